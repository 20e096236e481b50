// SPDX-License-Identifier: Apache-2.0
#include "codegen/collect/known_scalars.h"

#include <algorithm>

#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

/// The number that the access always loads; null where it is not known.
Expr number_of(const NestAccess& access, const ir::Graph& graph, const Plan& plan) {
  const Array& array = plan.arrays[access.array];
  if (access.within || !array.value || !(product(array.shape) == Dim(1))) return {};
  const ir::Value& value = graph.value(array.value);
  if (value.data && value.data->size() == 1 && access.dtype == DType::i64) return Expr::dim((*value.data)[0]);
  const Tensor* tensor = value.is_constant() ? graph.tensor_of(array.value) : nullptr;
  if (!tensor || tensor->count() != 1) return {};
  if (is_arithmetic_float(access.dtype)) return Expr::constant(access.dtype, tensor->number(0));
  return is_integer(access.dtype) || access.dtype == DType::boolean ? Expr::integer(access.dtype, tensor->integer(0)) : Expr();
}

void simplify_values(Nest& nest) {
  const auto fold_numbers = [](Expr& e) {
    if (e) e = simplify(e);
  };
  for (NestOutput& o : nest.outputs) fold_numbers(o.value);
  for (NestAccess& a : nest.accesses) fold_numbers(a.within);
}

}  // namespace

void substitute_known_scalars(Nest& nest, const ir::Graph& graph, const Plan& plan) {
  if (std::ranges::any_of(nest.axes, [](const ops::Axis& a) { return a.kind != ops::Axis::Kind::parallel; })) return;
  std::vector<Expr> known;
  for (const NestAccess& a : nest.accesses) known.push_back(number_of(a, graph, plan));
  if (std::ranges::none_of(known, [](const Expr& e) { return static_cast<bool>(e); })) return;
  std::vector<int> place;
  int kept = 0;
  for (const Expr& e : known) place.push_back(e ? -1 : kept++);
  rewrite(nest, [&](const ExprNode& n) -> Expr {
    if (n.op != ExprOp::input) return {};
    return known[n.index] ? known[n.index] : Expr::input(place[n.index], n.dtype);
  });
  std::vector<NestAccess> loads;
  for (size_t k = 0; k < known.size(); ++k)
    if (!known[k]) loads.push_back(std::move(nest.accesses[k]));
  nest.accesses = std::move(loads);
  simplify_values(nest);
}

}  // namespace tenon::codegen
