// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <unordered_map>

#include "base/hash.h"
#include "base/result.h"

namespace tenon::compiler {

/// Times that were measured, by what they are of: a line each, "HASH NANOSECONDS". Several processes may add to it at once. Lines that are
/// no such thing are passed over: a time that is lost is measured again.
class TimesFile {
 public:
  /// A file that is not there yet is empty; an empty path keeps times while this lives.
  explicit TimesFile(std::filesystem::path path);
  std::optional<double> find(const Hash128& of) const;
  /// Errors: write_failed.
  Result<void> add(const Hash128& of, double ns);

 private:
  std::filesystem::path path_;
  std::unordered_map<std::string, double> times_;
};

}  // namespace tenon::compiler
