// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/value_types.h"

#include <algorithm>
#include <span>

#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"

namespace tenon::ops {

namespace {

ValueKind kind_of(const Tensor& value) {
  if (value.dtype() == DType::map) return ValueKind::map;
  const bool of_maps = value.dtype() == DType::sequence && value.count() > 0 && value.elements()[0].dtype() == DType::map;
  if (of_maps) return ValueKind::sequence_of_maps;
  if (value.dtype() == DType::sequence) return ValueKind::sequence;
  if (value.dtype() != DType::optional) return ValueKind::tensor;
  return value.count() > 0 && value.elements()[0].holds_tensors() ? ValueKind::optional_sequence : ValueKind::optional;
}

bool kind_fits(const Type& type, const Tensor& value) {
  if (value.dtype() == DType::sequence && type.kind == ValueKind::sequence && std::ranges::any_of(value.elements(), &Tensor::holds_tensors))
    return false;
  if (type.kind == ValueKind::sequence_of_maps && value.dtype() == DType::sequence && value.count() == 0) return true;
  return type.kind == kind_of(value) || (type.is_optional() && value.dtype() == DType::optional && value.count() == 0);
}

bool tensor_fits(const Type& type, const Tensor& t, bool wide) {
  bool ok = type.dtype == DType::none || t.dtype() == type.dtype || (wide && is_float(type.dtype) && t.dtype() == DType::f64);
  if (!type.has_rank()) return ok;
  ok = ok && type.rank() == t.rank();
  for (int a = 0; ok && a < t.rank(); ++a) ok = type.dim(a).equals(t.shape()[static_cast<size_t>(a)]).value_or(true);
  return ok;
}

std::span<const Tensor> maps_in(const Tensor& value) {
  if (value.dtype() == DType::map) return {&value, 1};
  return value.elements();
}

bool maps_fit(const Type& type, std::span<const Tensor> maps, bool wide) {
  return std::ranges::all_of(maps, [&](const Tensor& m) {
    return m.dtype() == DType::map && m.elements()[0].dtype() == type.key && tensor_fits(Type(type.dtype), m.elements()[1], wide);
  });
}

Type type_of_tensor(const Tensor& t) { return Type(t.dtype(), DimList(t.shape().begin(), t.shape().end())); }

}  // namespace

bool fits(const Type& type, const Tensor& value, bool wide) {
  if (is_unknown(type)) return true;
  bool ok = kind_fits(type, value);
  if (type.is_map()) return ok && maps_fit(type, maps_in(value), wide);
  each_tensor(value, [&](const Tensor& t) { ok = ok && tensor_fits(type, t, wide); });
  return ok;
}

Result<Type> type_of(const NodeView& view, const Type& declared, const Tensor& value) {
  if (!value.holds_tensors()) return type_of_tensor(value);
  if (const ValueKind kind = kind_of(value); kind == ValueKind::map || kind == ValueKind::sequence_of_maps) {
    const Tensor& first = maps_in(value)[0];
    const DType dtype = declared.dtype != DType::none ? declared.dtype : first.elements()[1].dtype();
    const Type out = Type::map(first.elements()[0].dtype(), dtype, kind);
    if (maps_fit(out, maps_in(value), true)) return out;
    return refuse(view, Code::dtype_mismatch, "the maps of a sequence differ in type").expected(out.text());
  }
  if (declared.is_map()) return declared;
  std::vector<Type> types;
  each_tensor(value, [&](const Tensor& t) { types.push_back(type_of_tensor(t)); });
  Type out = types.empty() ? declared : types[0];
  for (const Type& t : types) out = TRY(common_element_type(view, out, t));
  const bool has_kind = value.dtype() == DType::sequence || value.count() > 0 || is_unknown(declared);
  if (declared.dtype != DType::none) out.dtype = declared.dtype;
  out.kind = has_kind ? kind_of(value) : declared.kind;
  return out;
}

}  // namespace tenon::ops
