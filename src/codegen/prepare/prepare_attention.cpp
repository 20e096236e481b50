// SPDX-License-Identifier: Apache-2.0
#include "base/checked.h"
#include "codegen/analysis/attention.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/analysis/places.h"
#include "codegen/lower/attention/attention_parts.h"
#include "codegen/prepare/constant_masks.h"
#include "codegen/prepare/operand_access.h"
#include "codegen/prepare/preparation.h"
#include "codegen/prepare/transpose_constants.h"

namespace tenon::codegen {

namespace {

/// Copies an operand into a row-major array over these axes of the nest, the last one (of a known extent) padded to whole registers.
void copy_operand(Nest& nest, int operand, const std::vector<int>& axes, int64_t lanes, Plan& plan, std::vector<Nest>& copies) {
  Nest copy;
  DimList shape;
  NestAccess read = nest.accesses[operand];
  std::vector<Expr> own(nest.axes.size(), zero_index()), written, over_nest;
  for (size_t k = 0; k < axes.size(); ++k) {
    const Dim extent = nest.axes[axes[k]].extent;
    const bool last = k + 1 == axes.size();
    copy.axes.push_back({ops::Axis::Kind::parallel, extent});
    shape.push_back(last ? Dim(round_up(extent.value(), lanes)) : extent);
    own[axes[k]] = Expr::axis(static_cast<int>(k));
    written.push_back(own[axes[k]]);
    over_nest.push_back(Expr::axis(axes[k]));
  }
  auto place = [&](const ExprNode& n) { return n.op == ExprOp::axis ? own[n.index] : Expr(); };
  for (Expr& e : read.index) e = simplify(substitute(e, place));
  if (read.flat) read.flat = simplify(substitute(read.flat, place));
  copy.accesses.push_back(std::move(read));
  NestOutput out;
  out.array = add_temporary(plan, DType::f32, std::move(shape));
  out.dtype = DType::f32;
  out.value = cast(Expr::input(0, nest.accesses[operand].dtype), DType::f32);
  out.index = std::move(written);
  const ArrayId copied = out.array;
  copy.outputs.push_back(std::move(out));
  copy.nodes = nest.nodes;
  copies.push_back(std::move(copy));
  NestAccess& access = nest.accesses[operand];
  access.array = copied;
  access.dtype = DType::f32;
  access.index = std::move(over_nest);
  access.flat = Expr();
}

/// Whether the kernel can read the values without a copy: they are contiguous, in whole registers.
bool can_read_values(const Nest& nest, const Plan& plan, const Target& target) {
  const auto values = affine_of(flat_of(nest.accesses[2], plan), kAttentionAxes);
  return values && values->coefficients[kValueSize] == Dim(1) && nest.axes[kValueSize].extent.value() % target.lanes() == 0;
}

}  // namespace

void prepare_attention(const Group& group, const AttentionTactic& tactic, Preparation& to) {
  Group out = group;
  auto& group_data = out.as<AttentionGroup>();
  Nest& nest = out.nests[0];
  std::vector<Nest> copies;
  if (!can_read_values(nest, to.plan, to.target))
    copy_operand(
        nest, 2,
        group_data.longest_sequence ? std::vector<int>{kKeyHead, kKey, kValueSize} : std::vector<int>{kBatch, kKeyHead, kKey, kValueSize},
        to.target.lanes(), to.plan, copies);
  to.add_copies(std::move(copies), group.node);
  simplify_constant_masks(nest, group_data.value_scale, to.plan);
  transpose_constants(nest, Nest(nest), kQuery, to.plan);
  if (const KeyParts parts = key_parts(nest, out, tactic, to.plan, to.target); parts.several()) {
    const PartShapes shapes = part_shapes(parts, nest, tactic.tile, to.target);
    group_data.part_sums = add_temporary(to.plan, DType::f32, shapes.sums);
    group_data.part_weights = add_temporary(to.plan, DType::f32, shapes.weights);
  }
  if (const auto few = few_queries(nest, out, tactic, to.plan)) {
    const PartShapes shapes = part_shapes(*few, nest, to.target);
    group_data.part_sums = add_temporary(to.plan, DType::f32, shapes.sums);
    group_data.part_weights = add_temporary(to.plan, DType::f32, shapes.weights);
  }
  to.add(std::move(out), tactic);
}

}  // namespace tenon::codegen
