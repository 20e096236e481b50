// SPDX-License-Identifier: Apache-2.0
#include "ir/port_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tenon::ir {

Error port_name_taken(std::string_view kind, std::string_view name) {
  return fail(Code::bad_graph, fmt::format("{} '{}'", kind, name), fmt::format("two {}s have one name", kind))
      .expected("one name each")
      .found(fmt::format("'{}' twice", name))
      .advice(fmt::format("give one of the {}s another name", kind));
}

Result<void> check_port_names(const Graph& root) {
  std::unordered_set<std::string_view> inputs, outputs;
  const auto is_taken = [](auto& names, std::string_view name) { return !name.empty() && !names.insert(name).second; };
  for (ValueId id : root.inputs())
    if (is_taken(inputs, root.value(id).name)) return port_name_taken("input", root.value(id).name);
  for (uint32_t k = 0; k < root.outputs().size(); ++k)
    if (is_taken(outputs, root.output_name(k))) return port_name_taken("output", root.output_name(k));
  return {};
}

Result<void> check_new_output(const Graph& root, std::string_view name) {
  for (uint32_t k = 0; k < root.outputs().size(); ++k)
    if (root.output_name(k) == name) return port_name_taken("output", name);
  return {};
}

Result<void> check_new_input(const Graph& root, std::string_view name) {
  const ValueId other = name.empty() ? ValueId() : root.find_value(name);
  if (!other) return {};
  if (root.value(other).kind == Value::Kind::input) return port_name_taken("input", name);
  return fail(Code::bad_graph, fmt::format("input '{}'", name), "another value has this name")
      .expected("a name that no value has")
      .found(root.value(other).is_constant() ? "a constant of this name" : "a node's result of this name")
      .advice("give the input another name");
}

}  // namespace tenon::ir
