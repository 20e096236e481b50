// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/timing_cache.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "compiler/measure/append_line.h"

namespace tenon::compiler {

namespace {

constexpr size_t kDigits = 32;  ///< of a hash

}  // namespace

TimingCache::TimingCache(std::filesystem::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::ifstream in(path_);
  std::string hash;
  for (std::string line; std::getline(in, line);) {
    if (line.size() <= kDigits + 1 || line[kDigits] != ' ') continue;
    char* end = nullptr;
    const double ns = std::strtod(line.c_str() + kDigits + 1, &end);
    if (*end == 0 && std::isfinite(ns) && ns > 0) ns_[line.substr(0, kDigits)] = ns;
  }
}

std::optional<double> TimingCache::find(const Hash128& key) const {
  const auto found = ns_.find(key.text());
  return found == ns_.end() ? std::nullopt : std::optional(found->second);
}

Result<void> TimingCache::add(const Hash128& key, double ns) {
  ns_[key.text()] = ns;
  if (path_.empty()) return {};
  return append_line(path_, fmt::format("{} {:.1f}", key.text(), ns));
}

}  // namespace tenon::compiler
