// SPDX-License-Identifier: Apache-2.0
#include "ops/value_types.h"

#include "ops/sequence_helpers.h"

namespace tenon::ops {

namespace {

ValueKind kind_of(const Tensor& value) {
  if (value.dtype() == DType::sequence) return ValueKind::sequence;
  if (value.dtype() != DType::optional) return ValueKind::tensor;
  return value.count() > 0 && value.elements()[0].holds_tensors() ? ValueKind::optional_sequence : ValueKind::optional;
}

bool kind_fits(const Type& type, const Tensor& value) {
  return type.kind == kind_of(value) || (type.is_optional() && value.dtype() == DType::optional && value.count() == 0);
}

bool tensor_fits(const Type& type, const Tensor& t, bool wide) {
  bool ok = type.dtype == DType::none || t.dtype() == type.dtype || (wide && is_float(type.dtype) && t.dtype() == DType::f64);
  if (!type.has_rank()) return ok;
  ok = ok && type.rank() == t.rank();
  for (int a = 0; ok && a < t.rank(); ++a) ok = type.dim(a).equals(t.shape()[static_cast<size_t>(a)]).value_or(true);
  return ok;
}

Type type_of_tensor(const Tensor& t) { return Type(t.dtype(), DimList(t.shape().begin(), t.shape().end())); }

}  // namespace

bool fits(const Type& type, const Tensor& value, bool wide) {
  if (is_unknown(type)) return true;
  bool ok = kind_fits(type, value);
  each_tensor(value, [&](const Tensor& t) { ok = ok && tensor_fits(type, t, wide); });
  return ok;
}

Result<Type> type_of(const NodeView& view, const Type& declared, const Tensor& value) {
  if (!value.holds_tensors()) return type_of_tensor(value);
  std::vector<Type> types;
  each_tensor(value, [&](const Tensor& t) { types.push_back(type_of_tensor(t)); });
  Type out = types.empty() ? declared : types[0];
  for (const Type& t : types) out = TRY(common_element(view, out, t));
  const bool tells = value.dtype() == DType::sequence || value.count() > 0 || is_unknown(declared);
  if (declared.dtype != DType::none) out.dtype = declared.dtype;
  out.kind = tells ? kind_of(value) : declared.kind;
  return out;
}

}  // namespace tenon::ops
