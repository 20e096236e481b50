// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "plugin/library.h"

namespace tenon::plugin {

struct LoadOptions {
  std::string name_space;  ///< in place of the one that the library's ops have; empty: theirs
  Logger logger;           ///< takes what the library has to say, and a line an op that is registered; may be null
};

/// "Registered plugin creator Swish version 1 in namespace acme"
std::string registration_line(const Op& op);

/// The ops of the libraries that somebody named. Safe from several threads; what it gives lives as long as it does.
class Registry {
 public:
  /// Registers a library whole or not at all. The same bytes again, under the same namespace, change nothing.
  /// Errors: those of open_library; bad_usage for an op that another library has registered, naming both.
  Result<void> load(const std::filesystem::path& file, const LoadOptions& options = {});
  /// The same of a library that is open. Errors: bad_usage.
  Result<void> add(const std::shared_ptr<const Library>& library, const LoadOptions& options = {});

  /// version: empty for the newest, that is the last in the order of their digits. Null where there is none.
  const Op* find(std::string_view name_space, std::string_view name, std::string_view version = {}) const;
  /// All, in the order in which they were registered.
  std::vector<const Op*> ops() const;
  std::vector<std::shared_ptr<const Library>> libraries() const;
  bool empty() const { return ops().empty(); }

 private:
  const Op* find_locked(std::string_view name_space, std::string_view name, std::string_view version) const;
  mutable std::mutex lock_;
  std::vector<std::shared_ptr<const Library>> libraries_;
  std::vector<std::unique_ptr<const Op>> ops_;
};

}  // namespace tenon::plugin
