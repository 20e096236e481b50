// SPDX-License-Identifier: Apache-2.0
#include "runtime/held.h"

#include <fmt/format.h>

namespace tenon::runtime {

namespace {

bool kind_fits(ValueKind kind, const Tensor& value) {
  if (kind == ValueKind::sequence) return value.dtype() == DType::sequence;
  if (value.dtype() != DType::optional) return false;
  if (value.count() == 0) return true;
  const DType inside = value.elements()[0].dtype();
  return kind == ValueKind::optional_sequence ? inside == DType::sequence : inside != DType::sequence && inside != DType::optional;
}

bool tensor_fits(const Held& held, DType dtype, const Tensor& t) {
  if (t.dtype() != dtype) return false;
  if (held.unranked) return true;
  if (held.sizes.size() != t.shape().size()) return false;
  for (size_t k = 0; k < held.sizes.size(); ++k)
    if (held.sizes[k] >= 0 && held.sizes[k] != t.shape()[k]) return false;
  return true;
}

bool is_flat(const Tensor& sequence) {
  for (const Tensor& e : sequence.elements())
    if (e.holds_tensors()) return false;
  return true;
}

}  // namespace

bool is_as_promised(const Held& held, DType dtype, const Tensor& value) {
  if (!kind_fits(held.kind, value)) return false;
  if (held.kind == ValueKind::sequence && !is_flat(value)) return false;
  if (held.kind == ValueKind::optional_sequence && value.count() > 0 && !is_flat(value.elements()[0])) return false;
  bool ok = true;
  each_tensor(value, [&](const Tensor& t) { ok = ok && tensor_fits(held, dtype, t); });
  return ok;
}

std::string text_of(const Held& held, DType dtype) {
  std::string sizes;
  for (int64_t s : held.sizes) sizes += (sizes.empty() ? "" : ",") + (s < 0 ? std::string("?") : std::to_string(s));
  const std::string tensor = fmt::format("{}[{}]", name_of(dtype), held.unranked ? "*" : sizes);
  if (held.kind == ValueKind::sequence) return "seq(" + tensor + ")";
  return held.kind == ValueKind::optional_sequence ? "optional(seq(" + tensor + "))" : "optional(" + tensor + ")";
}

}  // namespace tenon::runtime
