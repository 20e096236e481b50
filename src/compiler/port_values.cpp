// SPDX-License-Identifier: Apache-2.0
#include "compiler/port_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/shapes/default_shapes.h"
#include "runtime/container_value.h"

namespace tenon::compiler {

Result<Tensor> random_tensor(const runtime::PortInfo& port, const Sizes& shape, std::mt19937_64& random) {
  Tensor t = TRY(Tensor::make(port.dtype, shape));
  const bool mask = port.name.find("mask") != std::string::npos;
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.count(); ++i) {
    if (port.dtype == DType::string) t.mutable_strings()[static_cast<size_t>(i)] = std::to_string(random() % 2);
    else if (is_float(port.dtype)) t.set_number(i, normal(random));
    else if (port.dtype == DType::boolean || mask) t.set_integer(i, 1);
    else t.set_integer(i, static_cast<int64_t>(random() % 2));
  }
  return t;
}

namespace {

/// NAME/keys and NAME/values; otherwise three numbers that are drawn, for the keys 0, 1 and 2.
Result<Tensor> map_value(const runtime::PortInfo& port, const std::string& name, const files::NamedTensors& given,
                         std::mt19937_64& random) {
  const auto find = [&](std::string part) { return std::ranges::find(given, name + part, &files::NamedTensors::value_type::first); };
  const auto keys = find("/keys"), values = find("/values");
  if (keys != given.end() && values != given.end()) {
    if (are_keys_and_values(keys->second, values->second)) return Tensor::of_elements(DType::map, {keys->second, values->second});
    return fail(Code::bad_input, {}, "keys and values do not fit each other")
        .expected("keys i64[n] or string[n], and n values")
        .found(type_text(keys->second) + " and " + type_text(values->second));
  }
  if (keys != given.end() || values != given.end())
    return fail(Code::bad_input, {}, "keys or values are missing").expected(name + "/keys and " + name + "/values");
  const std::vector<int64_t> numbers{0, 1, 2};
  Tensor drawn = port.container.key == DType::i64 ? Tensor::of_i64({3}, numbers) : Tensor::of_strings({3}, {"0", "1", "2"});
  return Tensor::of_elements(DType::map, {std::move(drawn), TRY(random_tensor(port, {3}, random))});
}

/// Maps NAME/0, NAME/1, ...
Result<Tensor> maps_value(const runtime::PortInfo& port, const files::NamedTensors& given, std::mt19937_64& random) {
  std::vector<Tensor> maps;
  const auto has = [&](size_t k) {
    const std::string begin = fmt::format("{}/{}/", port.name, k);
    return std::ranges::any_of(given, [&](const auto& g) { return g.first.starts_with(begin); });
  };
  for (size_t k = 0; k == 0 || has(k); ++k) maps.push_back(TRY(map_value(port, fmt::format("{}/{}", port.name, k), given, random)));
  return Tensor::of_elements(DType::sequence, std::move(maps));
}

bool is_optional(const runtime::PortInfo& port) { return port.container.kind != ValueKind::sequence; }

/// One of the tensors in a port that is none itself. Sizes that may be any are 2, shapes that may be any [3].
Result<Tensor> random_element(const runtime::PortInfo& port, std::mt19937_64& random) {
  Sizes shape = port.container.unranked ? Sizes{3} : port.container.sizes;
  for (int64_t& s : shape) s = s < 0 ? 2 : s;
  return random_tensor(port, shape, random);
}

}  // namespace

Result<Tensor> container_value(const runtime::PortInfo& port, const files::NamedTensors& given, std::mt19937_64& random) {
  if (port.container.kind == ValueKind::map) return map_value(port, port.name, given, random);
  if (port.container.kind == ValueKind::sequence_of_maps) return maps_value(port, given, random);
  std::vector<Tensor> elements;
  const bool alone = port.container.kind == ValueKind::optional;
  const auto find = [&](const std::string& name) { return std::ranges::find(given, name, &files::NamedTensors::value_type::first); };
  for (size_t k = 0; k == 0 || !alone; ++k) {
    const auto found = find(alone ? port.name : fmt::format("{}/{}", port.name, k));
    if (found == given.end()) break;
    elements.push_back(found->second);
  }
  const size_t drawn = elements.empty() ? alone ? 1 : 2 : 0;
  for (size_t k = 0; k < drawn; ++k) elements.push_back(TRY(random_element(port, random)));
  if (alone) return Tensor::of_elements(DType::optional, std::move(elements));
  Tensor sequence = Tensor::of_elements(DType::sequence, std::move(elements));
  return is_optional(port) ? Tensor::of_elements(DType::optional, {std::move(sequence)}) : sequence;
}

Result<std::vector<Tensor>> drawn_inputs(std::span<const runtime::PortInfo> ports) {
  std::mt19937_64 random(1);
  const std::vector<Sizes> sizes = default_shapes(ports, {});
  std::vector<Tensor> out;
  for (size_t k = 0; k < ports.size() && !ports[k].default_value; ++k)
    out.push_back(TRY(runtime::is_container(ports[k]) ? container_value(ports[k], {}, random) : random_tensor(ports[k], sizes[k], random)));
  return out;
}

std::string array_names_of(const runtime::PortInfo& port) {
  switch (port.container.kind) {
    case ValueKind::tensor:
    case ValueKind::optional: return port.name;
    case ValueKind::map: return port.name + "/keys, " + port.name + "/values";
    case ValueKind::sequence_of_maps: return port.name + "/0/keys, " + port.name + "/0/values, ...";
    case ValueKind::sequence:
    case ValueKind::optional_sequence: break;
  }
  return port.name + "/0, ...";
}

bool is_array_of(const std::string& name, const runtime::PortInfo& port) {
  if (!runtime::is_container(port) || port.container.kind == ValueKind::optional) return name == port.name;
  if (!name.starts_with(port.name)) return false;
  std::string_view rest = std::string_view(name).substr(port.name.size());
  const bool map = port.container.kind == ValueKind::map || port.container.kind == ValueKind::sequence_of_maps;
  if (map && rest.ends_with("/keys")) rest.remove_suffix(5);
  else if (map && rest.ends_with("/values")) rest.remove_suffix(7);
  else if (map) return false;
  if (port.container.kind == ValueKind::map) return rest.empty();
  return rest.size() > 1 && rest[0] == '/' && rest.find_first_not_of("0123456789", 1) == rest.npos;
}

}  // namespace tenon::compiler
