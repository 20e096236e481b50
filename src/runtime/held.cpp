// SPDX-License-Identifier: Apache-2.0
#include "runtime/held.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

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

bool are_maps(const Held& held, DType dtype, std::span<const Tensor> maps) {
  return std::ranges::all_of(maps, [&](const Tensor& m) {
    return m.dtype() == DType::map && m.elements()[0].dtype() == held.key && m.elements()[1].dtype() == dtype;
  });
}

}  // namespace

bool is_as_promised(const Held& held, DType dtype, const Tensor& value) {
  if (held.kind == ValueKind::map) return are_maps(held, dtype, {&value, 1});
  if (held.kind == ValueKind::sequence_of_maps) return value.dtype() == DType::sequence && are_maps(held, dtype, value.elements());
  if (!kind_fits(held.kind, value)) return false;
  if (held.kind == ValueKind::sequence && !is_flat(value)) return false;
  if (held.kind == ValueKind::optional_sequence && value.count() > 0 && !is_flat(value.elements()[0])) return false;
  bool ok = true;
  each_tensor(value, [&](const Tensor& t) { ok = ok && tensor_fits(held, dtype, t); });
  return ok;
}

std::string text_of(const Held& held, DType dtype) {
  const std::string map = fmt::format("map({},{})", name_of(held.key), name_of(dtype));
  if (held.kind == ValueKind::map) return map;
  if (held.kind == ValueKind::sequence_of_maps) return "seq(" + map + ")";
  std::string sizes;
  for (int64_t s : held.sizes) sizes += (sizes.empty() ? "" : ",") + (s < 0 ? std::string("?") : std::to_string(s));
  const std::string tensor = fmt::format("{}[{}]", name_of(dtype), held.unranked ? "*" : sizes);
  if (held.kind == ValueKind::sequence) return "seq(" + tensor + ")";
  return held.kind == ValueKind::optional_sequence ? "optional(seq(" + tensor + "))" : "optional(" + tensor + ")";
}

}  // namespace tenon::runtime
