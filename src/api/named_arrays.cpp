// SPDX-License-Identifier: Apache-2.0
#include "api/named_arrays.h"

#include <algorithm>

namespace tenon::inline v1 {

namespace {

std::string names_of(std::span<const Port> ports) {
  std::string out;
  for (const Port& p : ports) out += (out.empty() ? "" : ", ") + p.name;
  return out;
}

}  // namespace

base::Result<std::vector<Array>> in_order(const Arrays& named, std::span<const Port> ports) {
  std::vector<Array> out;
  for (const Port& p : ports) {
    const auto found = named.find(p.name);
    if (found == named.end() && p.has_default) {
      out.emplace_back();
      continue;
    }
    if (found == named.end())
      return base::fail(base::Code::bad_input, "input '" + p.name + "'", "the input is missing")
          .expected(names_of(ports))
          .found("no array of this name")
          .advice("give every input a value");
    out.push_back(found->second);
  }
  if (named.size() == ports.size()) return out;
  for (const auto& [name, array] : named)
    if (std::ranges::none_of(ports, [&](const Port& p) { return p.name == name; }))
      return base::fail(base::Code::bad_input, "input '" + name + "'", "the model has no such input").expected(names_of(ports)).found(name);
  return out;
}

Arrays by_name(std::vector<Array> results, std::span<const Port> ports) {
  Arrays named;
  for (size_t k = 0; k < results.size(); ++k) named.emplace(ports[k].name, std::move(results[k]));
  return named;
}

}  // namespace tenon::inline v1
