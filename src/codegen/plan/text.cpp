// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/expr/text.h"
#include "codegen/plan/sizes_in_text.h"
#include "ir/literal.h"

namespace tenon::codegen {

namespace {

constexpr int64_t kMostElements = 8;  ///< most elements of a constant that is written out in the text

std::string name_of_array(ArrayId id, const Plan& plan) {
  if (id < 0) return "_";
  const Array& a = plan.arrays[id];
  return fmt::format("{}{}", a.constant ? 'c' : a.value ? 'v' : 't', id);
}

std::string names_of(const std::vector<ArrayId>& ids, const Plan& plan) {
  std::string out;
  for (ArrayId a : ids) out += (out.empty() ? "" : ", ") + name_of_array(a, plan);
  return out;
}

/// The size as text, in brackets where it is an expression.
std::string dim_text(Dim d) {
  std::string text = d.text();
  const bool plain = d.is_number() || (d.node()->kind == DimNode::Kind::symbol && text[0] != '"');
  return plain ? text : "[" + text + "]";
}

// --- nests

std::string axis_text(const ops::Axis& axis) {
  const char* kind = axis.kind == ops::Axis::Kind::parallel ? "" : axis.kind == ops::Axis::Kind::reduced ? "+" : "~";
  return kind + dim_text(axis.extent);
}

std::string place_text(const std::vector<Expr>& index, const Expr& flat, std::span<const DType> inputs) {
  const ExprTypes types{DType::i64, inputs};
  if (flat) return "(" + text_of(flat, types) + ")";
  std::string out;
  for (const Expr& e : index) out += (out.empty() ? "" : ", ") + text_of(e, types);
  return "[" + out + "]";
}

std::string access_text(const NestAccess& a, const Plan& plan, std::span<const DType> inputs) {
  std::string out = name_of_array(a.array, plan) + place_text(a.index, a.flat, inputs);
  if (a.within) out += fmt::format(" if {} else {}", text_of(a.within, {DType::boolean, inputs}), text_of(a.fill, {a.dtype, inputs}));
  return out;
}

std::string output_text(const NestOutput& o, const Plan& plan, std::span<const DType> inputs) {
  std::string out = name_of_array(o.array, plan) + place_text(o.index, o.flat, inputs) + " = ";
  if (o.combine != ops::Combine::none) out += fmt::format("{} of ", kCombineWords[static_cast<size_t>(o.combine)]);
  out += text_of(o.value, {o.dtype, inputs});
  return o.within ? out + " if " + text_of(o.within, {DType::boolean, inputs}) : out;
}

}  // namespace

std::string text_of(const Nest& nest, const Plan& plan) {
  std::string out = "for ";
  for (size_t k = 0; k < nest.axes.size(); ++k) out += (k == 0 ? "" : ", ") + axis_text(nest.axes[k]);
  if (nest.axes.empty()) out += "_";
  if (nest.exclusive) out += " exclusive";
  if (nest.reverse) out += " reverse";
  std::vector<DType> inputs;
  for (const NestAccess& a : nest.accesses) {
    out += fmt::format("\n    x{} = {}", inputs.size(), access_text(a, plan, inputs));
    inputs.push_back(a.dtype);
  }
  if (nest.condition >= 0) out += fmt::format("\n    where x{}", nest.condition);
  for (const NestOutput& o : nest.outputs) out += "\n    " + output_text(o, plan, inputs);
  return out;
}

namespace {

// --- what groups of one kind have

std::string limit_text(const IndexLimit& limit, const Plan& plan) {
  return fmt::format("{} below {}{}", name_of_array(limit.input, plan), dim_text(limit.extent), limit.from_end ? " from end" : "");
}

struct PayloadText {
  const Plan& plan;

  std::string operator()(const LoopGroup& g) const {
    return (g.outer == 0 ? "" : fmt::format(" outer {}", g.outer)) + (g.auxiliary ? " of product" : "");
  }
  std::string operator()(const ContractGroup& g) const {
    return (g.constant_bytes_per_iteration ? fmt::format(" constant_bytes {}", *g.constant_bytes_per_iteration) : "") +
           (g.panels < 0 ? "" : " panels " + name_of_array(g.panels, plan)) +
           (g.scales < 0 ? "" : " scales " + name_of_array(g.scales, plan)) + rounded(g.rounded);
  }
  std::string rounded(const RoundedRows& rows) const {
    if (rows.values < 0) return "";
    const bool bytes = rows.scales >= 0;
    return " rounded " + name_of_array(rows.values, plan) +
           (bytes ? fmt::format(" by {} ", rows.run) + names_of({rows.scales, rows.sums}, plan) : "");
  }
  std::string operator()(const AttentionGroup& g) const {
    std::string out = fmt::format(" scale {}", g.scale);
    if (g.masked_rows != ops::MaskedRows::zero) out += fmt::format(" masked {}", kMaskedRowsWords[static_cast<size_t>(g.masked_rows)]);
    if (g.longest_sequence) out += " longest " + dim_text(*g.longest_sequence);
    if (g.value_scale >= 0) out += fmt::format(" value_scale {}", g.value_scale);
    return g.part_sums < 0 ? out : out + " parts " + names_of({g.part_sums, g.part_weights}, plan);
  }
  std::string operator()(const SegmentGroup& g) const {
    return fmt::format(" {} of {}", g.segment, ir::name_text(plan.segments[g.segment].backend));
  }
  std::string operator()(const SizesGroup& g) const {
    DimList symbols;
    for (const DimNode* s : g.symbols) symbols.push_back(Dim::of(s));
    return " of " + text_of(symbols);
  }
  std::string operator()(const ControlGroup&) const { return ""; }
  std::string operator()(const CheckGroup& g) const { return " " + limit_text(g.limit, plan); }
  std::string operator()(const PackedRowsGroup&) const { return ""; }
};

// --- the plan

class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, ir::TextConstants* constants) : plan_(plan), constants_(constants), named_(plan.arrays.size()) {}

  std::string run() {
    out_ = "plan\n";
    for (const std::string& declaration : declarations_of(plan_)) line(declaration);
    DimList given;
    for (const DimNode* s : plan_.outer_symbols) given.push_back(Dim::of(s));
    if (!given.empty()) line("given " + text_of(given));
    if (plan_.sums_in_order) line("sums in order");
    if (plan_.activations != Activations::f32) line(fmt::format("activations {}", name_of(plan_.activations)));
    find_named();
    for (size_t a = 0; a < named_.size(); ++a)
      if (named_[a]) array(static_cast<ArrayId>(a));
    if (!plan_.inputs.empty()) line("inputs " + names_of(plan_.inputs, plan_));
    if (!plan_.outputs.empty()) line("outputs " + names_of(plan_.outputs, plan_));
    for (const PlanState& s : plan_.states)
      line(fmt::format("state {} input {} output {}{}", ir::name_text(s.name), s.input, s.output, s.in_place ? " in place" : ""));
    for (const IndexLimit& limit : plan_.index_limits) line("limit " + limit_text(limit, plan_));
    for (const ir::Assumption& a : plan_.assumptions)
      line(fmt::format("assume {} {} {} {}", name_of(a.kind), text_of(DimList{a.a, a.b}), ir::quoted(a.where), ir::quoted(a.what)));
    for (const Group& g : plan_.groups) group(g);
    return std::move(out_);
  }

 private:
  void line(std::string_view text) { out_ += fmt::format("  {}\n", text); }

  /// Marks the arrays that the text refers to.
  void find_named() {
    const auto name = [&](ArrayId a) {
      for (; a >= 0 && !named_[a]; a = plan_.arrays[a].same_bytes) named_[a] = true;
    };
    const auto nest = [&](const Nest& n) {
      for (const NestAccess& a : n.accesses) name(a.array);
      for (const NestOutput& o : n.outputs) name(o.array);
    };
    std::ranges::for_each(plan_.inputs, name);
    std::ranges::for_each(plan_.outputs, name);
    for (const IndexLimit& limit : plan_.index_limits) name(limit.input);
    for (const Group& g : plan_.groups) {
      std::ranges::for_each(g.inputs, name);
      std::ranges::for_each(g.outputs, name);
      if (g.kind() == GroupKind::check) name(g.as<CheckGroup>().limit.input);
      if (g.kind() == GroupKind::contract) {
        const auto& product = g.as<ContractGroup>();
        for (const ArrayId a : {product.panels, product.scales, product.rounded.values, product.rounded.scales, product.rounded.sums})
          name(a);
      }
      if (g.kind() == GroupKind::attention) {
        name(g.as<AttentionGroup>().part_sums);
        name(g.as<AttentionGroup>().part_weights);
      }
      std::ranges::for_each(g.nests, nest);
      if (g.epilogue) nest(g.epilogue->map);
    }
  }

  void array(ArrayId id) {
    const Array& a = plan_.arrays[id];
    std::string text = fmt::format("{}: {}{}", name_of_array(id, plan_), name_of(a.dtype), text_of(a.shape));
    if (!a.order.empty()) text += fmt::format(" in order {}", fmt::join(a.order, a.order.size() > 10 ? "." : ""));
    if (a.row_padding != 0) text += fmt::format(" padded by {}", a.row_padding);
    if (!a.halo.empty())
      text +=
          fmt::format(" within {} and {}{}", fmt::join(a.halo.before, "."), fmt::join(a.halo.after, "."), a.halo.zeros ? " of zeros" : "");
    if (a.growing) text += fmt::format(" grows {} to {}", a.growing->axis, a.growing->capacity);
    if (a.same_bytes >= 0) text += " shares " + name_of_array(a.same_bytes, plan_);
    if (!(a.units == Dim(0))) text += " in units " + dim_text(a.units);
    if (a.fixed_layout) text += " fixed";
    line(a.constant ? text + " = " + constant(a.constant) : text);
  }

  std::string constant(const ir::ConstantRef& c) {
    if (c->count() <= kMostElements && !c->unread())
      if (const auto t = ir::materialise(*c)) return ir::elements_text(*t);
    if (c->is_plain() && bits_of(c->dtype) >= 8 && ir::is_splat(std::get<Tensor>(c->source)))
      return "splat(" + ir::element_text(std::get<Tensor>(c->source), 0) + ")";
    if (constants_) constants_->constants.push_back(c);
    return fmt::format("@{}", numbered_++);
  }

  void group(const Group& g) {
    out_ += kGroupWords[static_cast<size_t>(g.kind())];
    out_ += std::visit(PayloadText{plan_}, g.payload);
    if (!g.inputs.empty()) out_ += " inputs " + names_of(g.inputs, plan_);
    if (!g.outputs.empty()) out_ += " outputs " + names_of(g.outputs, plan_);
    out_ += "\n";
    if (g.region)
      line(fmt::format("{} by axes {}, units {}, parts {}", g.region->joined ? "joined" : "region", fmt::join(g.region->axes, " "),
                       dim_text(g.region->units), dim_text(g.region->parts)));
    for (const Nest& n : g.nests) line(text_of(n, plan_));
    if (!g.epilogue) return;
    const std::string read = g.epilogue->accumulator == 0 ? "" : fmt::format("of x{} ", g.epilogue->accumulator);
    const std::string columns = g.epilogue->columns == 1 ? "" : fmt::format("in {} columns ", g.epilogue->columns);
    line("then " + read + columns + text_of(g.epilogue->map, plan_));
  }

  const Plan& plan_;
  ir::TextConstants* constants_;
  std::vector<bool> named_;
  size_t numbered_ = 0;
  std::string out_;
};

}  // namespace

std::string text_of(const Plan& plan, ir::TextConstants* constants) { return PlanPrinter(plan, constants).run(); }
std::string text_of(const Plan& plan) { return text_of(plan, nullptr); }

}  // namespace tenon::codegen
