// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "plugin/library.h"

namespace tenon::plugin {

struct LoadOptions {
  std::string name_space;  ///< replaces the namespace of the library's ops; empty: they keep their own
  Logger logger;           ///< receives log lines of the library, and a line for each op that is registered; may be null
};

/// "Registered plugin creator Swish version 1 in namespace acme"
std::string registration_line(const Op& op);

/// The ops of the libraries that were loaded into it. Safe from several threads; its ops live as long as the registry.
class Registry {
 public:
  /// Registers a library whole or not at all. The same bytes again, under the same namespace, change nothing.
  /// Errors: those of open_library; bad_usage for an op that another library has registered, naming both.
  Result<void> load(const std::filesystem::path& file, const LoadOptions& options = {});
  /// The same of a library that is open. Errors: bad_usage.
  Result<void> add(const std::shared_ptr<const Library>& library, const LoadOptions& options = {});

  /// version: empty for the newest, which has the highest number. Null where there is no such op.
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
