// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/container_types.h"

#include "ops/core/refuse.h"
#include "ops/infer/require.h"

namespace tenon::ops {

namespace {
Error wrong_kind(const NodeView& view, size_t input, std::string wanted) {
  return refuse(view, Code::dtype_mismatch, "operand " + std::to_string(input) + " is no " + wanted)
      .expected("a " + wanted)
      .found(view.type(input).text());
}
}  // namespace

Result<void> require_tensor(const NodeView& view, size_t input) {
  if (!view.has(input) || view.type(input).is_tensor()) return {};
  return wrong_kind(view, input, "tensor");
}

Result<void> require_sequence(const NodeView& view, size_t input) {
  if (!view.has(input) || view.type(input).is_sequence() || is_unknown(view.type(input))) return {};
  return wrong_kind(view, input, "sequence");
}

Result<void> require_map(const NodeView& view, size_t input, DType key) {
  const Type& type = view.type(input);
  if (!view.has(input) || is_unknown(type) || (type.kind == ValueKind::map && type.key == key)) return {};
  return wrong_kind(view, input, "map with keys of type " + std::string(name_of(key)));
}

Result<void> require_tensor(const NodeView& view, const Type& type, std::string_view what) {
  if (type.is_tensor()) return {};
  return refuse(view, Code::dtype_mismatch, std::string(what) + " is no tensor").expected("a tensor").found(type.text());
}

Type with_kind(Type type, ValueKind kind) {
  type.kind = kind;
  return type;
}

Result<Type> common_element_type(const NodeView& view, const Type& a, const Type& b) {
  if (a.dtype != DType::none && b.dtype != DType::none && a.dtype != b.dtype)
    return refuse(view, Code::dtype_mismatch, "the tensors of a sequence differ in dtype")
        .expected(std::string(name_of(a.dtype)))
        .found(std::string(name_of(b.dtype)));
  if (a.key != b.key) return refuse(view, Code::dtype_mismatch, "the maps differ in their keys").expected(a.text()).found(b.text());
  Type out = a;
  if (out.dtype == DType::none) out.dtype = b.dtype;
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) {
    out.shape.reset();
    return out;
  }
  for (int i = 0; i < a.rank(); ++i) {
    const bool same = a.dim(i).is_number() && b.dim(i).is_number() && a.dim(i).known_equal(b.dim(i));
    if (!same) (*out.shape)[static_cast<size_t>(i)] = view.symbols->fresh();
  }
  return out;
}

Type element_type(const NodeView& view, const Type& holder, const Type& before) {
  Type out = with_kind(holder, ValueKind::tensor);
  const bool known = before.is_tensor() && before.has_rank() && holder.has_rank() && before.rank() == holder.rank();
  for (int i = 0; out.has_rank() && i < out.rank(); ++i) {
    Dim& d = (*out.shape)[static_cast<size_t>(i)];
    if (!d.is_number()) d = known && !before.dim(i).is_number() ? before.dim(i) : view.symbols->fresh();
  }
  return out;
}

}  // namespace tenon::ops
