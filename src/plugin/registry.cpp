// SPDX-License-Identifier: Apache-2.0
#include "plugin/registry.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>

namespace tenon::plugin {

std::string registration_line(const Op& op) {
  return fmt::format("Registered plugin creator {} version {} in namespace {}", op.name, op.version, op.name_space);
}

Result<void> Registry::load(const std::filesystem::path& file, const LoadOptions& options) {
  return add(TRY(open_library(file, options.logger)), options);
}

Result<void> Registry::add(const std::shared_ptr<const Library>& library, const LoadOptions& options) {
  std::unique_lock held(lock_);
  std::vector<std::unique_ptr<const Op>> added;
  for (const Op& op : library->ops) {
    auto own = std::make_unique<Op>(op);
    if (!options.name_space.empty()) own->name_space = options.name_space;
    const Op* const other = find_locked(own->name_space, own->name, own->version);
    if (!other) {
      added.push_back(std::move(own));
    } else if (other->sha256 != library->sha256) {
      return fail(Code::bad_usage, library->file.string(), fmt::format("two libraries have the plugin {}", own->key()))
          .expected("each plugin from one library; nothing of this one was registered")
          .found(fmt::format("{} and {}", other->file, own->file))
          .advice("leave one of them out, or give one a namespace of its own");
    }
  }
  if (std::ranges::find(libraries_, library) == libraries_.end()) libraries_.push_back(library);
  std::vector<std::string> lines;
  for (auto& op : added) {
    lines.push_back(registration_line(*op));
    ops_.push_back(std::move(op));
  }
  held.unlock();  // the logger may query the registry
  for (const std::string& line : lines)
    if (options.logger) options.logger(TENON_LOG_VERBOSE, library->name, line);
  return {};
}

const Op* Registry::find(std::string_view name_space, std::string_view name, std::string_view version) const {
  const std::lock_guard held(lock_);
  return find_locked(name_space, name, version);
}

const Op* Registry::find_locked(std::string_view name_space, std::string_view name, std::string_view version) const {
  const Op* best = nullptr;
  for (const auto& op : ops_) {
    if (op->name_space != name_space || op->name != name || (!version.empty() && op->version != version)) continue;
    if (!best || strverscmp(best->version.c_str(), op->version.c_str()) < 0) best = op.get();
  }
  return best;
}

std::vector<const Op*> Registry::ops() const {
  const std::lock_guard held(lock_);
  std::vector<const Op*> out;
  for (const auto& op : ops_) out.push_back(op.get());
  return out;
}

std::vector<std::shared_ptr<const Library>> Registry::libraries() const {
  const std::lock_guard held(lock_);
  return libraries_;
}

}  // namespace tenon::plugin
