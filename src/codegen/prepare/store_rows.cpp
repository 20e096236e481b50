// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/store_rows.h"

#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/prepare/operand_access.h"

namespace tenon::codegen {

namespace {

/// An operand of one load is stored as its whole array, with the halo, which the nest then reads as it did.
void store_array(Nest& nest, const ContractOperand& operand, Plan& plan, std::vector<Nest>& copies) {
  NestAccess& access = nest.accesses[operand.accesses[0]];
  const ir::ConstantRef constant = constant_of(operand, nest, plan);
  const Array& source = plan.arrays[access.array];
  const auto with_load = [&](const Expr& load) {
    return substitute(operand.value, [&](const ExprNode& n) { return n.op == ExprOp::input ? load : Expr(); });
  };
  Expr factors[2] = {nest.outputs[0].value.args()[0], nest.outputs[0].value.args()[1]};
  const DType stored = operand.value.dtype();
  for (Expr& f : factors)
    if (mentions(f, ExprOp::input, operand.accesses[0])) f = widened(Expr::input(operand.accesses[0], stored), nest.outputs[0].dtype);
  nest.outputs[0].value = factors[0] * factors[1];
  if (access.fill) access.fill = with_load(access.fill);
  if (constant) {
    Array cast = source;
    cast.constant = constant;
    cast.dtype = stored;
    cast.value = {};
    plan.arrays.push_back(std::move(cast));
    access.array = static_cast<ArrayId>(plan.arrays.size() - 1);
    access.dtype = stored;
    return;
  }
  Nest copy;
  NestAccess read;
  read.array = access.array;
  read.dtype = access.dtype;
  NestOutput out;
  Halo halo = source.halo;
  halo.zeros = halo.zeros && operand.value.op() == ExprOp::cast;
  for (size_t d = 0; d < source.shape.size(); ++d) {
    const int64_t before = halo.empty() ? 0 : halo.before[d], after = halo.empty() ? 0 : halo.after[d];
    copy.axes.push_back({ops::Axis::Kind::parallel, source.shape[d] + before + after});
    read.index.push_back(simplify(Expr::axis(static_cast<int>(d)) - Expr::integer(DType::i64, before)));
  }
  out.index = read.index;
  out.value = with_load(Expr::input(0, access.dtype));
  out.dtype = stored;
  out.array = add_temporary(plan, stored, source.shape, source.order);
  plan.arrays[out.array].halo = halo;
  plan.arrays[out.array].strides = strides_of(plan.arrays[out.array]);
  copy.accesses.push_back(std::move(read));
  copy.nodes = nest.nodes;
  access.array = out.array;
  access.dtype = stored;
  copy.outputs.push_back(std::move(out));
  copies.push_back(std::move(copy));
}

}  // namespace

void store_rows_operand(Nest& nest, const Contraction& roles, Plan& plan, std::vector<Nest>& copies) {
  if (roles.rows_operand.accesses.size() == 1) return store_array(nest, roles.rows_operand, plan, copies);
  store_rows_in_order(nest, roles, plan, copies);
}

void store_rows_in_order(Nest& nest, const Contraction& roles, Plan& plan, std::vector<Nest>& copies) {
  Nest copy;
  NestOutput out;
  DimList shape;
  NestAccess stored;
  std::vector<Expr> over_copy(nest.axes.size(), zero_index());
  for (const auto* list : {&roles.batch, &roles.rows, &roles.depth})
    for (const int x : axes_of(*list)) {
      over_copy[x] = Expr::axis(static_cast<int>(copy.axes.size()));
      copy.axes.push_back({ops::Axis::Kind::parallel, nest.axes[x].extent});
      shape.push_back(nest.axes[x].extent);
      out.index.push_back(over_copy[x]);
      stored.index.push_back(Expr::axis(x));
    }
  const auto place = [&](const ExprNode& n) { return n.op == ExprOp::axis ? over_copy[n.index] : Expr(); };
  out.value = moved_operand(nest, roles.rows_operand, place, Expr(), copy);
  out.dtype = out.value.dtype();
  out.array = add_temporary(plan, out.dtype, shape);
  stored.array = out.array;
  stored.dtype = out.dtype;
  copy.outputs.push_back(out);
  copy.nodes = nest.nodes;
  copies.push_back(std::move(copy));
  Nest lanes;
  const Expr lanes_value = moved_operand(nest, roles.lanes_operand, [](const ExprNode&) { return Expr(); }, Expr(), lanes);
  const int stored_number = static_cast<int>(lanes.accesses.size());
  nest.accesses = std::move(lanes.accesses);
  nest.accesses.push_back(std::move(stored));
  const DType sum = nest.outputs[0].dtype;
  nest.outputs[0].value = widened(Expr::input(stored_number, out.dtype), sum) * widened(lanes_value, sum);
}

}  // namespace tenon::codegen
