// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/casts.h"

#include <cmath>

namespace tenon::rules {

ir::ValueId operand_of_cast(const rewrite::GraphQuery& query, ir::ValueId value) {
  const ir::NodeId cast = query.producer(value, "Cast");
  return cast ? query.operand(cast, 0) : ir::ValueId{};
}

bool is_exact_in(const rewrite::GraphQuery& query, ir::ValueId constant, DType dtype) {
  const Tensor* t = query.is_constant(constant) ? query.graph().tensor_of(constant) : nullptr;
  if (!t || !is_float(t->dtype()) || !is_float(dtype)) return false;
  for (int64_t i = 0; i < t->count(); ++i) {
    const double x = t->number(i);
    if (!std::isnan(x) && decode_float(dtype, encode_float(dtype, x, false)) != x) return false;
  }
  return true;
}

ir::ValueId cast_constant(rewrite::Rewriter& w, const rewrite::GraphQuery& query, ir::ValueId constant, DType dtype) {
  const Tensor* from = query.graph().tensor_of(constant);
  auto to = from ? Tensor::make(dtype, from->shape()) : Tensor::make(dtype, {});
  if (!from || !to) return {};
  for (int64_t i = 0; i < from->count(); ++i) to->set_number(i, from->number(i));
  return w.constant(std::move(*to));
}

ir::ValueId cast_to(rewrite::Rewriter& w, ir::ValueId value, DType dtype) {
  return w("Cast", {value}, {{"to", static_cast<int64_t>(dtype)}});
}

bool fits_attribute(double number, DType dtype) { return dtype != DType::f64 || static_cast<double>(static_cast<float>(number)) == number; }

}  // namespace tenon::rules
