// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "base/result.h"

namespace tenon::inline base {

/// The index of the item of an engine with that name. what, plural: what the items are ("entry", "entries"). Errors: bad_usage, naming the
/// nearest.
template <class Items>
Result<size_t> index_named(std::string what, const std::string& plural, const Items& items, std::string_view name) {
  for (size_t k = 0; k < items.size(); ++k)
    if (items[k].name == name) return k;
  std::vector<std::string> names;
  std::string all;
  for (const auto& item : items) {
    names.push_back(item.name);
    all.append(all.empty() ? "" : ", ").append(item.name);
  }
  const std::string nearest = nearest_name(name, names);
  return fail(Code::bad_usage, what + " '" + std::string(name) + "'", "the engine has no such " + what)
      .expected(all.empty() ? "no name: it has no " + plural : all)
      .found(std::string(name))
      .advice(nearest.empty() ? "name one of its " + plural : "did you mean '" + nearest + "'?");
}

}  // namespace tenon::inline base
