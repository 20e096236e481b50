// SPDX-License-Identifier: Apache-2.0
#include "compiler/shapes/default_shapes.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {

namespace {

using NamedSizes = std::map<std::string, int64_t>;

/// The sizes that --shape requests, by dimension name: a name has one size in all inputs.
NamedSizes requested_sizes(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes) {
  NamedSizes named;
  for (const import::RequestedShape& s : shapes)
    for (const runtime::PortInfo& port : inputs)
      for (size_t d = 0; s.input == port.name && d < std::min(s.dims.size(), port.dimensions.size()); ++d)
        if (const auto size = s.dims[d].interval ? std::optional(s.dims[d].interval->usual) : s.dims[d].size)
          named[port.dimensions[d]] = *size;
  return named;
}

/// The size of axis `axis` where none was requested: the same in all inputs, what was requested there for another one, and as large as
/// each of them must be at least.
int64_t default_size(std::span<const runtime::PortInfo> inputs, size_t axis, const NamedSizes& asked) {
  int64_t size = axis == 0 ? 1 : 16;
  for (const runtime::PortInfo& port : inputs) {
    if (axis >= port.lower.size() || port.lower[axis] == port.upper[axis]) continue;
    if (const auto found = asked.find(port.dimensions[axis]); found != asked.end()) return found->second;
    size = std::max(size, port.lower[axis]);
  }
  return size;
}

/// Adds a size for every dimension that has none; a name that comes up again has the size that it got first.
void add_defaults(std::span<const runtime::PortInfo> inputs, NamedSizes& named) {
  const NamedSizes asked = named;
  for (const runtime::PortInfo& port : inputs)
    for (size_t d = 0; d < port.dimensions.size(); ++d) {
      const int64_t size = std::clamp(default_size(inputs, d, asked), port.lower[d], std::max(port.lower[d], port.upper[d]));
      named.try_emplace(port.dimensions[d], size);
    }
}

Sizes shape_of(const runtime::PortInfo& port, const NamedSizes& named) {
  Sizes out;
  for (size_t d = 0; d < port.dimensions.size(); ++d)
    out.push_back(port.lower[d] == port.upper[d] ? port.lower[d] : named.at(port.dimensions[d]));
  return out;
}

}  // namespace

std::vector<Sizes> default_shapes(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes) {
  NamedSizes named = requested_sizes(inputs, shapes);
  add_defaults(inputs, named);
  std::vector<Sizes> out;
  for (const runtime::PortInfo& port : inputs) out.push_back(shape_of(port, named));
  return out;
}

}  // namespace tenon::compiler
