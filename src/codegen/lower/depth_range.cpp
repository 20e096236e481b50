// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/depth_range.h"

namespace tenon::codegen {

namespace {

/// The position in roles.rows of the only axis that the index depends on apart from `depth`; nullopt where there is no such one. The last
/// axis of the rows does not count: a tile has several of its steps.
std::optional<size_t> rows_axis(const Affine& index, int depth, const Contraction& roles, const Nest& nest) {
  std::optional<size_t> found;
  for (int x = 0; x < static_cast<int>(nest.axes.size()); ++x) {
    if (x == depth || index.coefficients[x] == Dim(0) || nest.axes[x].extent == Dim(1)) continue;
    if (found) return std::nullopt;
    for (size_t k = 0; k + 1 < roles.rows.size(); ++k)
      if (roles.rows[k].axes == std::vector<int>{x}) found = k;
    if (!found) return std::nullopt;
  }
  return found;
}

}  // namespace

std::optional<DepthRange> depth_range_of(const Contraction& roles, const Nest& nest, const Plan& plan) {
  const NestAccess& read = nest.accesses[roles.rows_operand.accesses[0]];
  const Array& array = plan.arrays[read.array];
  if (!array.halo.zeros || read.flat || roles.depth.size() < 2 || roles.depth[0].axes.size() != 1) return std::nullopt;
  const int depth = roles.depth[0].axes[0];
  for (size_t d = 0; d < read.index.size(); ++d) {
    if (array.halo.before[d] + array.halo.after[d] == 0) continue;
    const auto index = affine_of(read.index[d], static_cast<int>(nest.axes.size()));
    if (!index || !index->coefficients[depth].is_number() || index->coefficients[depth].value() <= 0) continue;
    const auto rows = rows_axis(*index, depth, roles, nest);
    if (!rows || !Dim(0).less(index->coefficients[roles.rows[*rows].axes[0]]).value_or(false)) return std::nullopt;
    return DepthRange{*rows, index->coefficients[roles.rows[*rows].axes[0]], index->offset, array.shape[d],
                      index->coefficients[depth].value()};
  }
  return std::nullopt;
}

DepthSteps steps_of(const DepthRange& range, Dim depth, Reg first, Reg last, KernelEmitter& emit) {
  TileBuilder& b = emit.build();
  const Reg dilation = emit.integer(range.dilation);
  const auto place_of = [&](Reg row) { return b.add(b.mul(row, emit.dim(range.step)), emit.dim(range.offset)); };
  // Division rounds towards zero; results for negative numerators are cut off by the maximum with 0 and the minimum with `depth` below.
  const auto steps_to = [&](Dim place, Reg from) {
    return b.expr(ExprOp::div, {b.add(b.sub(emit.dim(place), from), emit.integer(range.dilation - 1)), dilation});
  };
  const Reg lowest = place_of(first), highest = last == first ? lowest : place_of(last);
  return {b.expr(ExprOp::max, {steps_to(0, highest), emit.integer(0)}), b.min(steps_to(range.size, lowest), emit.dim(depth))};
}

Dim steps_that_count(const DepthRange& range, Dim depth, Dim rows) {
  if (!depth.is_number() || !range.step.is_number() || range.step.value() <= 0) return rows * depth;
  const auto rows_to = [&](Dim place) { return min(ceil_div(max(place, Dim(0)), range.step), rows); };
  Dim out = 0;
  for (int64_t d = 0; d < depth.value(); ++d) {
    const Dim from = range.offset + d * range.dilation;
    out = out + max(rows_to(range.size - from) - rows_to(Dim(0) - from), Dim(0));
  }
  return out;
}

}  // namespace tenon::codegen
