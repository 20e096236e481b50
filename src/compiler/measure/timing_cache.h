// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <unordered_map>

#include "base/hash.h"
#include "base/result.h"

namespace tenon::compiler {

/// Measured times by the hash of what was timed, in a text file: each line is "HASH NANOSECONDS". Several processes may append to the file
/// at the same time. Malformed lines are skipped: their times are measured again.
class TimingCache {
 public:
  /// A missing file gives an empty cache; with an empty path, times are kept in memory only.
  explicit TimingCache(std::filesystem::path path);
  /// Nanoseconds; nullopt where the cache has no time of it.
  std::optional<double> find(const Hash128& key) const;
  /// Errors: write_failed.
  Result<void> add(const Hash128& key, double ns);

 private:
  std::filesystem::path path_;
  std::unordered_map<std::string, double> ns_;  ///< by the hash as text
};

}  // namespace tenon::compiler
