// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/state_writes.h"

#include <algorithm>

#include "codegen/analysis/bounds.h"
#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

/// Whether the index is (i0, i1, ...), the axes in their order.
bool is_own_place(const std::vector<Expr>& index) {
  for (size_t d = 0; d < index.size(); ++d)
    if (!(index[d].op() == ExprOp::axis && index[d]->index == static_cast<int>(d))) return false;
  return true;
}

bool same_placement(const NestAccess& read, const NestOutput& written) {
  if (read.flat || written.flat) return read.flat && written.flat && same(read.flat, written.flat);
  return std::ranges::equal(read.index, written.index, same);
}

}  // namespace

bool copies_whole(const Nest& nest, ArrayId from, ArrayId to, const Plan& plan) {
  if (nest.accesses.size() != 1 || nest.outputs.size() != 1 || nest.condition >= 0) return false;
  const NestAccess& read = nest.accesses[0];
  const NestOutput& written = nest.outputs[0];
  const bool whole = read.array == from && written.array == to && !read.within && !written.within && !read.flat && !written.flat;
  return whole && written.combine == ops::Combine::none && written.value.op() == ExprOp::input &&
         nest.axes.size() == plan.arrays[from].shape.size() && is_own_place(read.index) && is_own_place(written.index);
}

bool writes_before(const Nest& nest, ArrayId array, uint32_t axis, Dim begin, const Plan& plan) {
  const Bounds bounds(nest, plan.assumptions);
  return std::ranges::any_of(nest.outputs, [&](const NestOutput& o) {
    if (o.array != array) return false;
    if (o.flat || mentions(o.index[axis], ExprOp::input)) return true;
    const Expr above = simplify(o.index[axis] - Expr::dim(begin));
    return bounds.inside(above, plan.arrays[array].shape[axis] - begin, o.within) != std::optional(true);
  });
}

bool reads_what_it_writes(const Nest& nest, ArrayId old_value, ArrayId new_value, const Plan& plan) {
  const auto written = std::ranges::find(nest.outputs, new_value, &NestOutput::array);
  const bool is_map = std::ranges::all_of(nest.axes, [](const ops::Axis& a) { return a.kind == ops::Axis::Kind::parallel; });
  if (written == nest.outputs.end() || written->combine != ops::Combine::none || !is_map) return false;
  return std::ranges::all_of(nest.accesses, [&](const NestAccess& a) {
    return storage_of(a.array, plan) != old_value || (a.array == old_value && same_placement(a, *written));
  });
}

bool reads(const Group& group, ArrayId array, const Plan& plan) {
  bool found = std::ranges::any_of(group.inputs, [&](ArrayId a) { return a >= 0 && storage_of(a, plan) == array; });
  each_nest(group, [&](const Nest& n) {
    found |= std::ranges::any_of(n.accesses, [&](const NestAccess& a) { return storage_of(a.array, plan) == array; });
  });
  return found;
}

bool writes(const Group& group, ArrayId array) {
  bool found = std::ranges::find(group.outputs, array) != group.outputs.end();
  each_nest(group, [&](const Nest& n) { found |= std::ranges::find(n.outputs, array, &NestOutput::array) != n.outputs.end(); });
  return found;
}

}  // namespace tenon::codegen
