// SPDX-License-Identifier: Apache-2.0
#include "program/size_table.h"

#include <algorithm>
#include <map>

namespace tenon::program {

using runtime::Program;
using runtime::SizeLine;
using runtime::Slot;

void SizeTable::bind_to_input(const DimNode* symbol, uint32_t input, uint32_t axis) {
  origins_.try_emplace(symbol, Origin{-1, input, axis, false});
}
void SizeTable::bind_to_step(const DimNode* symbol, uint32_t step) { origins_.try_emplace(symbol, Origin{step, 0, 0, false}); }
void SizeTable::bind_to_outer(const DimNode* symbol) { origins_.try_emplace(symbol, Origin{-1, 0, 0, true}); }
void SizeTable::bind_to_state_length(const DimNode* symbol, uint32_t port) {
  Origin origin;
  origin.state = port;
  origins_.try_emplace(symbol, origin);
}
void SizeTable::bind_to_state_size(const DimNode* symbol, uint32_t port, uint32_t axis) {
  Origin origin;
  origin.state_with_size = port;
  origin.axis = axis;
  origins_.try_emplace(symbol, origin);
}
bool SizeTable::is_known_at_start(Dim dim) const {
  const auto step = dim.is_number() ? Result<int64_t>(-1) : level_of(dim);
  return step && *step < 0;
}
bool SizeTable::contains(Dim dim) const {
  if (dim.is_overflow()) return false;
  if (origins_.contains(dim.node())) return true;
  bool all = true;
  if (!dim.is_number()) each_symbol(dim, [&](const DimNode& s) { all &= origins_.contains(&s); });
  return all;
}
bool SizeTable::depends_on_step(Dim dim, uint32_t step) const {
  if (dim.is_number() || dim.is_overflow()) return false;
  if (origins_.contains(dim.node())) return is_bound_by(dim.node(), step);
  bool is_bound = false;
  each_symbol(dim, [&](const DimNode& s) { is_bound |= is_bound_by(&s, step); });
  return is_bound;
}
void SizeTable::request(Dim dim) { requested_.push_back(dim); }

Result<int64_t> SizeTable::level_of(Dim dim) const {
  if (auto found = origins_.find(dim.node()); found != origins_.end()) return found->second.step;
  int64_t level = -1;
  const DimNode* missing = nullptr;
  each_symbol(dim, [&](const DimNode& s) {
    auto found = origins_.find(&s);
    if (found == origins_.end()) missing = &s;
    else level = std::max(level, found->second.step);
  });
  if (missing)
    return fail(Code::not_supported, "", "not supported yet: the size '" + missing->name + "' is not the size of an input")
        .expected("an input with a dimension '" + missing->name + "'")
        .advice("fix it with --shape");
  if (dim.is_overflow())
    return fail(Code::size_overflow, "size table", "a size does not fit 62 bits").expected("at most 2^62").found("a larger product");
  return level;
}

Slot SizeTable::add(SizeLine line, Program& program) {
  program.sizes.push_back(line);
  return static_cast<Slot>(program.sizes.size() - 1);
}

Slot SizeTable::emit_polynomial(const DimNode& node, Program& program) {
  Slot sum = 0;
  bool first = true;
  for (const DimNode::Term& term : node.terms) {
    Slot value = emit(Dim(term.coefficient), program);
    bool is_one = term.coefficient == 1 && !term.factors.empty();
    for (const DimNode* f : term.factors) {
      const Slot factor = emit(Dim::of(f), program);
      value = is_one ? factor : add({SizeLine::Kind::multiply, 0, value, factor, 0}, program);
      is_one = false;
    }
    sum = first ? value : add({SizeLine::Kind::add, 0, sum, value, 0}, program);
    first = false;
  }
  return first ? emit(Dim(0), program) : sum;
}

Slot SizeTable::emit(Dim dim, Program& program) {
  if (auto found = slots_.find(dim); found != slots_.end()) return found->second;
  Slot slot = 0;
  const bool is_bound_whole = !dim.is_number() && dim.node()->kind != DimNode::Kind::symbol && origins_.contains(dim.node());
  if (is_bound_whole) {
    const Origin& o = origins_.at(dim.node());
    slot = add(o.step < 0 ? SizeLine{SizeLine::Kind::input_dimension, 0, o.input, o.axis, 0} : SizeLine{SizeLine::Kind::bound, 0, 0, 0, 0},
               program);
  } else if (dim.is_number()) {
    slot = add({SizeLine::Kind::constant, dim.value(), 0, 0, 0}, program);
  } else {
    const DimNode& n = *dim.node();
    std::vector<Slot> args;
    for (Dim d : n.operands) args.push_back(emit(d, program));
    args.resize(3, 0);
    auto line = [&](SizeLine::Kind kind) { return add({kind, 0, args[0], args[1], args[2]}, program); };
    switch (n.kind) {
      case DimNode::Kind::symbol: {
        const Origin& o = origins_.at(&n);
        if (o.is_outer) outer_.push_back(dim);
        slot = o.state >= 0             ? lengths_.at(static_cast<uint32_t>(o.state))
               : o.state_with_size >= 0 ? add({SizeLine::Kind::state_size, 0, static_cast<Slot>(o.state_with_size), o.axis, 0}, program)
               : o.is_outer             ? add({SizeLine::Kind::outer, 0, static_cast<Slot>(outer_.size() - 1), 0, 0}, program)
               : o.step < 0             ? add({SizeLine::Kind::input_dimension, 0, o.input, o.axis, 0}, program)
                                        : add({SizeLine::Kind::bound, 0, 0, 0, 0}, program);
        break;
      }
      case DimNode::Kind::polynomial: slot = emit_polynomial(n, program); break;
      case DimNode::Kind::floor_div: slot = line(SizeLine::Kind::floor_divide); break;
      case DimNode::Kind::min: slot = line(SizeLine::Kind::minimum); break;
      case DimNode::Kind::max: slot = line(SizeLine::Kind::maximum); break;
      case DimNode::Kind::select: slot = line(SizeLine::Kind::select); break;
      case DimNode::Kind::less: slot = line(SizeLine::Kind::less); break;
      case DimNode::Kind::equal: slot = line(SizeLine::Kind::equal); break;
      case DimNode::Kind::overflow: slot = emit(Dim(0), program); break;
    }
  }
  slots_.emplace(dim, slot);
  return slot;
}

Result<void> SizeTable::finish(Program& program) {
  std::map<int64_t, std::vector<Dim>> by_level;  // by the step after which they can be computed; -1: before all steps
  for (const auto& [symbol, origin] : origins_)
    if (origin.step >= 0) by_level[origin.step];
  for (Dim d : requested_) by_level[TRY(level_of(d))].push_back(d);
  for (auto& [port, slot] : lengths_) slot = add({SizeLine::Kind::state_length, 0, port, 0, 0}, program);
  for (Dim d : std::exchange(by_level[-1], {})) emit(d, program);
  program.input_lines = static_cast<uint32_t>(program.sizes.size());
  by_level.erase(-1);
  for (const auto& [step, dims] : by_level) {
    for (Dim d : dims) emit(d, program);
    levels_.emplace_back(step, static_cast<uint32_t>(program.sizes.size()));
  }
  return {};
}

Slot SizeTable::slot(Dim dim) const {
  auto found = slots_.find(dim);
  TENON_ASSERT(found != slots_.end());
  return found->second;
}

uint32_t SizeTable::lines_before(uint32_t step) const {
  const auto next = std::ranges::lower_bound(levels_, int64_t{step}, {}, &std::pair<int64_t, uint32_t>::first);
  return next == levels_.begin() ? 0 : std::prev(next)->second;
}

}  // namespace tenon::program
