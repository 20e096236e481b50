// SPDX-License-Identifier: Apache-2.0
#include "compiler/shapes/requested_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/container_value.h"

namespace tenon::compiler {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 40;

Error bad_shape(const runtime::PortInfo& port, std::string what, std::string expected, std::string found) {
  return fail(Code::bad_input, fmt::format("input '{}'", port.name), "the requested shape does not fit: " + std::move(what))
      .expected(std::move(expected))
      .found(std::move(found));
}

std::string names_of(std::span<const runtime::PortInfo> ports) {
  std::string out;
  for (const runtime::PortInfo& p : ports) out += (out.empty() ? "" : ", ") + p.name;
  return out;
}

class RequestCheck {
 public:
  Result<void> check(const runtime::PortInfo& port, const import::RequestedShape& shape) {
    if (std::ranges::find(named_, port.name) != named_.end()) return bad_shape(port, "the input is named twice", "one shape", "two");
    named_.push_back(port.name);
    if (runtime::is_container(port)) return {};
    if (port.dimensions.size() != shape.dims.size())
      return bad_shape(port, "other rank", fmt::format("{} sizes", port.dimensions.size()), fmt::format("{}", shape.dims.size()));
    for (size_t d = 0; d < shape.dims.size(); ++d) TRY(check(port, d, shape.dims[d]));
    return {};
  }

 private:
  Result<void> check(const runtime::PortInfo& port, size_t axis, const import::RequestedDim& wanted) {
    const std::string& declared = port.dimensions[axis];
    if (wanted.interval || (!wanted.symbol.empty() && wanted.symbol != declared))
      return fail(Code::bad_usage, fmt::format("input '{}'", port.name), "the symbols and bounds of an engine's sizes are settled")
          .expected("a number, or *")
          .found(wanted.interval ? fmt::format("{}:{}:{}", wanted.interval->least, wanted.interval->usual, wanted.interval->most)
                                 : wanted.symbol)
          .advice("give --shape to `tenon build`");
    if (!wanted.size) return {};
    if (*wanted.size < 0 || *wanted.size > kMaxSize)
      return bad_shape(port, "a size is out of range", "0 to 2^40", std::to_string(*wanted.size));
    if (port.lower[axis] == port.upper[axis] && port.lower[axis] != *wanted.size)
      return bad_shape(port, fmt::format("dimension {} is fixed in the engine", axis), std::to_string(port.lower[axis]),
                       std::to_string(*wanted.size));
    const auto [known, fresh] = sizes_.emplace(declared, *wanted.size);
    if (!fresh && known->second != *wanted.size)
      return bad_shape(port, fmt::format("'{}' is given two sizes", declared), std::to_string(known->second), std::to_string(*wanted.size));
    return {};
  }

  std::vector<std::string> named_;
  std::map<std::string, int64_t> sizes_;
};

}  // namespace

Result<void> check_requested(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes,
                             const std::string& place) {
  RequestCheck check;
  for (const import::RequestedShape& shape : shapes) {
    const auto port = std::ranges::find(inputs, shape.input, &runtime::PortInfo::name);
    if (port == inputs.end())
      return fail(Code::bad_input, place, "a shape is given for an input that the engine does not have")
          .expected("one of: " + names_of(inputs))
          .found(shape.input);
    TRY(check.check(*port, shape));
  }
  return {};
}

}  // namespace tenon::compiler
