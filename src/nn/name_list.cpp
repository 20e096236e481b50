// SPDX-License-Identifier: Apache-2.0
#include "nn/name_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::nn {

std::string listed(std::string_view what, std::vector<std::string> names) {
  constexpr size_t kMostNames = 8;
  if (names.empty()) return "";
  const size_t all = names.size();
  if (all > kMostNames) names.resize(kMostNames);
  return fmt::format("{} {}: {}{}; ", all, what, fmt::join(names, ", "), all > kMostNames ? ", ..." : "");
}

}  // namespace tenon::nn
