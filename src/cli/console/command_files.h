// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

/// The files that one command reads and writes, each with the option that names it. An output that is an input, by whatever name or link,
/// is refused.
class CommandFiles {
 public:
  void add_input(std::string option, std::filesystem::path path) { inputs_.push_back({std::move(option), std::move(path)}); }
  void add_output(std::string option, std::filesystem::path path) { outputs_.push_back({std::move(option), std::move(path)}); }
  void add_output_folder(std::string option, std::filesystem::path path) { folders_.push_back({std::move(option), std::move(path)}); }
  bool has_outputs() const { return !outputs_.empty() || !folders_.empty(); }

  /// Checks that all outputs can be written, before the command runs; it leaves no files.
  /// Errors: bad_usage for an output that is an input or another output; write_failed where an output cannot be created.
  Result<void> check() const;
  /// The same for one more output.
  Result<void> check_output(const std::string& option, const std::filesystem::path& path) const;
  /// Errors: bad_usage where an input lies in `folder` under a name that the option may write.
  Result<void> check_folder(const std::string& option, const std::filesystem::path& folder,
                            const std::function<bool(const std::string& name)>& may_write) const;

 private:
  struct NamedFile {
    std::string option;
    std::filesystem::path path;
  };
  Result<void> check_distinct() const;

  std::vector<NamedFile> inputs_, outputs_, folders_;
};

}  // namespace tenon::cli
