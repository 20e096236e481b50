// SPDX-License-Identifier: Apache-2.0
#include "plugin/registry_cache.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace tenon::plugin {

namespace {

using Libraries = std::vector<std::shared_ptr<const Library>>;

/// Never destroyed: threads of libraries may outlive main.
struct RegistryCache {
  std::mutex lock;
  Libraries of_all_registries;  ///< see add_to_all_registries
  std::map<Libraries, std::shared_ptr<const Registry>> registries;
};

RegistryCache& cache() {
  static RegistryCache& out = *new RegistryCache;
  return out;
}

}  // namespace

Result<std::shared_ptr<const Registry>> cached_registry(std::span<const std::filesystem::path> files, const Logger& logger,
                                                        std::span<const std::shared_ptr<const Library>> more) {
  Libraries libraries;
  const auto add = [&](std::shared_ptr<const Library> library) {
    if (std::ranges::find(libraries, library) == libraries.end()) libraries.push_back(std::move(library));
  };
  for (const std::filesystem::path& file : files) add(TRY(open_library(file, logger)));
  for (const auto& library : more) add(library);
  RegistryCache& k = cache();
  const std::lock_guard held(k.lock);
  libraries.insert(libraries.end(), k.of_all_registries.begin(), k.of_all_registries.end());
  if (const auto found = k.registries.find(libraries); found != k.registries.end()) return found->second;
  const auto made = std::make_shared<Registry>();
  for (const auto& library : libraries) TRY(made->add(library, {.name_space = {}, .logger = logger}));
  k.registries.emplace(std::move(libraries), made);
  return made;
}

void add_to_all_registries(std::shared_ptr<const Library> library) {
  RegistryCache& k = cache();
  const std::lock_guard held(k.lock);
  const auto key = [](const auto& l) { return l->ops.empty() ? std::string() : l->ops[0].key(); };
  const auto same = std::ranges::find(k.of_all_registries, key(library), key);
  if (same != k.of_all_registries.end()) *same = std::move(library);
  else k.of_all_registries.push_back(std::move(library));
}

std::vector<std::filesystem::path> files_of_environment() {
  std::vector<std::filesystem::path> out;
  const char* const text = std::getenv("TENON_PLUGINS");
  for (std::string_view left = text ? text : ""; !left.empty();) {
    const size_t end = std::min(left.find(':'), left.size());
    if (end > 0) out.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return out;
}

}  // namespace tenon::plugin
