// SPDX-License-Identifier: Apache-2.0
#include "ops/core/loop.h"

#include <algorithm>
#include <set>

namespace tenon::ops {

namespace {

using AxisSet = std::set<int>;

void collect(const Expr& e, AxisSet& axes, std::set<int>& inputs) {
  if (!e) return;
  if (e.op() == ExprOp::axis) axes.insert(e->index);
  if (e.op() == ExprOp::input) inputs.insert(e->index);
  for (const Expr& a : e.args()) collect(a, axes, inputs);
}

/// Axes on which `e` depends, also through the indices of its loads; `inputs` gets the accesses that it loads.
AxisSet axes_of(const Loop& loop, const Expr& e, std::set<int>& inputs) {
  AxisSet axes;
  collect(e, axes, inputs);
  std::vector<int> pending(inputs.begin(), inputs.end());
  while (!pending.empty()) {
    const Access& access = loop.accesses[static_cast<size_t>(pending.back())];
    pending.pop_back();
    std::set<int> more;
    for (const Expr& i : access.index) collect(i, axes, more);
    for (int m : more) {
      if (inputs.insert(m).second) pending.push_back(m);
    }
  }
  return axes;
}

const Expr& without_cast(const Expr& e) { return e.op() == ExprOp::cast ? without_cast(e.args()[0]) : e; }

/// A sum of products of two factors that run over different axes, with a reduced axis in common.
bool is_contraction(const Loop& loop) {
  if (loop.outputs.size() != 1 || loop.outputs[0].combine != Combine::sum) return false;
  const Expr& value = without_cast(loop.outputs[0].value);
  if (value.op() != ExprOp::mul) return false;
  std::set<int> left_inputs, right_inputs;
  const AxisSet left = axes_of(loop, value.args()[0], left_inputs), right = axes_of(loop, value.args()[1], right_inputs);
  if (left_inputs == right_inputs) return false;
  bool common = false, any_parallel = false;
  for (int a = 0; a < static_cast<int>(loop.axes.size()); ++a) {
    if (loop.axes[static_cast<size_t>(a)].kind == Axis::Kind::reduced) common |= left.contains(a) && right.contains(a);
    else any_parallel = true;
  }
  return common && (left != right || !any_parallel);
}

std::string_view name_of(Combine combine) {
  constexpr std::string_view kNames[] = {"none", "sum", "product", "min", "max", "and", "or"};
  return kNames[static_cast<size_t>(combine)];
}

std::string list_of(const std::vector<Expr>& exprs) {
  std::string out = "[";
  for (size_t i = 0; i < exprs.size(); ++i) out += (i ? ", " : "") + exprs[i].text();
  return out + "]";
}

std::string text_of(const Source& source) {
  if (source.kind == Source::Kind::operand) return "operand" + std::to_string(source.index);
  return "loop" + std::to_string(source.index) + "." + std::to_string(source.output);
}

}  // namespace

LoopClass class_of(const Loop& loop) {
  const bool plain = std::all_of(loop.axes.begin(), loop.axes.end(), [](const Axis& a) { return a.kind == Axis::Kind::parallel; });
  if (plain) return LoopClass::map;
  return is_contraction(loop) ? LoopClass::contract : LoopClass::row;
}

std::string text_of(const Loop& loop) {
  constexpr std::string_view kKinds[] = {"parallel", "reduced", "scanned"};
  constexpr std::string_view kClasses[] = {"map", "row", "contract"};
  std::string out = std::string(kClasses[static_cast<size_t>(class_of(loop))]) + " (";
  for (size_t i = 0; i < loop.axes.size(); ++i) {
    out += (i ? ", " : "") + std::string(kKinds[static_cast<size_t>(loop.axes[i].kind)]) + " " + loop.axes[i].extent.text();
  }
  out += loop.reverse ? ") reverse" : ")";
  out += loop.exclusive ? " exclusive {\n" : " {\n";
  for (size_t i = 0; i < loop.accesses.size(); ++i) {
    const Access& a = loop.accesses[i];
    out += "  x" + std::to_string(i) + ": " + std::string(base::name_of(a.dtype)) + " = " + text_of(a.source) + list_of(a.index);
    if (a.within) out += " within " + a.within.text() + " else " + a.fill.text();
    out += "\n";
  }
  for (const IndexCheck& p : loop.index_checks) out += "  x" + std::to_string(p.access) + " is one of " + p.extent.text() + " places\n";
  for (size_t i = 0; i < loop.outputs.size(); ++i) {
    const Output& o = loop.outputs[i];
    out += "  y" + std::to_string(i) + ": " + std::string(base::name_of(o.dtype)) + base::text_of(o.shape);
    if (!o.index.empty()) out += " at " + list_of(o.index);
    if (o.within) out += " within " + o.within.text();
    if (o.partial) out += " partial";
    if (o.combine != Combine::none) out += " " + std::string(name_of(o.combine));
    out += " = " + o.value.text() + "\n";
  }
  return out + "}";
}

std::string text_of(const LoopForm& form) {
  std::string out;
  for (size_t i = 0; i < form.loops.size(); ++i) out += "loop" + std::to_string(i) + ": " + text_of(form.loops[i]) + "\n";
  for (size_t i = 0; i < form.results.size(); ++i) out += "result " + std::to_string(i) + " = " + text_of(form.results[i]) + "\n";
  return out;
}

}  // namespace tenon::ops
