// SPDX-License-Identifier: Apache-2.0
#include "runtime/container_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tenon::runtime {

namespace {

bool has_kind(ValueKind kind, const Tensor& value) {
  if (kind == ValueKind::sequence) return value.dtype() == DType::sequence;
  if (value.dtype() != DType::optional) return false;
  if (value.count() == 0) return true;
  const DType element = value.elements()[0].dtype();
  return kind == ValueKind::optional_sequence ? element == DType::sequence : element != DType::sequence && element != DType::optional;
}

bool has_type(const ContainerInfo& container, DType dtype, const Tensor& t) {
  if (t.dtype() != dtype) return false;
  if (container.unranked) return true;
  if (container.sizes.size() != t.shape().size()) return false;
  for (size_t k = 0; k < container.sizes.size(); ++k)
    if (container.sizes[k] >= 0 && container.sizes[k] != t.shape()[k]) return false;
  return true;
}

bool is_flat(const Tensor& sequence) {
  for (const Tensor& e : sequence.elements())
    if (e.holds_tensors()) return false;
  return true;
}

bool are_maps(const ContainerInfo& container, DType dtype, std::span<const Tensor> maps) {
  return std::ranges::all_of(maps, [&](const Tensor& m) {
    return m.dtype() == DType::map && m.elements()[0].dtype() == container.key && m.elements()[1].dtype() == dtype;
  });
}

}  // namespace

bool has_declared_type(const ContainerInfo& container, DType dtype, const Tensor& value) {
  if (container.kind == ValueKind::map) return are_maps(container, dtype, {&value, 1});
  if (container.kind == ValueKind::sequence_of_maps)
    return value.dtype() == DType::sequence && are_maps(container, dtype, value.elements());
  if (!has_kind(container.kind, value)) return false;
  if (container.kind == ValueKind::sequence && !is_flat(value)) return false;
  if (container.kind == ValueKind::optional_sequence && value.count() > 0 && !is_flat(value.elements()[0])) return false;
  bool fits = true;
  each_tensor(value, [&](const Tensor& t) { fits = fits && has_type(container, dtype, t); });
  return fits;
}

std::string text_of(const ContainerInfo& container, DType dtype) {
  const std::string map = fmt::format("map({},{})", name_of(container.key), name_of(dtype));
  if (container.kind == ValueKind::map) return map;
  if (container.kind == ValueKind::sequence_of_maps) return "seq(" + map + ")";
  std::string sizes;
  for (int64_t s : container.sizes) sizes += (sizes.empty() ? "" : ",") + (s < 0 ? std::string("?") : std::to_string(s));
  const std::string tensor = fmt::format("{}[{}]", name_of(dtype), container.unranked ? "*" : sizes);
  if (container.kind == ValueKind::sequence) return "seq(" + tensor + ")";
  return container.kind == ValueKind::optional_sequence ? "optional(seq(" + tensor + "))" : "optional(" + tensor + ")";
}

}  // namespace tenon::runtime
