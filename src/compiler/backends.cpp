// SPDX-License-Identifier: Apache-2.0
#include "compiler/backends.h"

#include "base/activity.h"

#include <algorithm>

#include "backends/reference/device/reference.h"
#include "base/nearest.h"
#include "runtime/device_error.h"

namespace tenon::backends {
#define TENON_ENTRY(x) std::unique_ptr<const backend::Backend> backend_##x(const runtime::Libraries&);
#include "tenon/backends_list.inc"
#undef TENON_ENTRY
#define TENON_ENTRY(x) std::shared_ptr<const runtime::Device> device_##x(const runtime::Libraries&);
#include "tenon/devices_list.inc"
#undef TENON_ENTRY
}  // namespace tenon::backends

namespace tenon::compiler {

namespace {

Result<std::optional<backend::Library>> library_of(const backend::Backend& backend) {
  const Activity activity(backend.name(), "opened its library");
  auto library = backend.library();
  if (!library) return runtime::backend_error(std::move(library).error(), backend.name());
  return library;
}

std::string names_of(std::span<const backend::Backend* const> backends) {
  std::string out;
  for (const backend::Backend* b : backends) out.append(out.empty() ? "" : ", ").append(b->name());
  return out;
}

const backend::Backend* find(std::span<const backend::Backend* const> backends, std::string_view name) {
  const auto found = std::ranges::find(backends, name, [](const backend::Backend* b) { return b->name(); });
  return found == backends.end() ? nullptr : *found;
}

Error unknown(std::string_view name, std::span<const backend::Backend* const> all) {
  std::vector<std::string_view> known;
  for (const backend::Backend* b : all) known.push_back(b->name());
  const std::string near = nearest_name(name, known);
  return fail(Code::bad_usage, "backend '" + std::string(name) + "'", "there is no such backend")
      .expected("one of: " + names_of(all))
      .found("'" + std::string(name) + "'")
      .advice(near.empty() ? "`tenon backends` shows which are available" : "did you mean '" + near + "'?");
}

}  // namespace

Registry::Registry(runtime::Libraries libraries) : libraries_(std::move(libraries)) {
#define TENON_ENTRY(x) owned_.push_back(backends::backend_##x(libraries_));
#include "tenon/backends_list.inc"
#undef TENON_ENTRY
  for (const auto& b : owned_) all_.push_back(b.get());
}

Result<std::shared_ptr<const Registry>> Registry::make(runtime::Libraries libraries) {
  const std::shared_ptr<const Registry> out(new Registry(std::move(libraries)));
  for (const auto& [name, file] : out->libraries_.files) {
    const backend::Backend* b = find(out->all_, name);
    if (!b) return unknown(name, out->all_);
    if (!TRY(library_of(*b)))
      return fail(Code::bad_usage, "backend '" + name + "'", "it needs no library")
          .expected("the library of a backend that runs on one")
          .found(file.string())
          .advice("leave its library away");
  }
  return out;
}

Result<backend::Backends> Registry::named(std::span<const std::string> names) const {
  backend::Backends out;
  for (const std::string& name : names) {
    if (find(out, name))
      return fail(Code::bad_usage, "backend '" + name + "'", "it is named twice")
          .expected("each name once")
          .found("'" + name + "' twice")
          .advice("name each once, in the order of priority");
    const backend::Backend* b = find(all_, name);
    if (!b) return unknown(name, all_);
    TRY(library_of(*b));
    out.push_back(b);
  }
  for (const backend::Backend* b : all_)
    if (b->is_default() && !find(out, b->name())) out.push_back(b);
  return out;
}

bool Registry::run_unknown_ops(std::span<const std::string> names) const {
  return std::ranges::any_of(names, [&](const std::string& name) {
    const backend::Backend* b = find(all_, name);
    return b && b->runs_unknown_ops();
  });
}

runtime::Devices Registry::devices(const ir::OpTable& ops) const {
  return {
      backends::reference::device(ops),
#define TENON_ENTRY(x) backends::device_##x(libraries_),
#include "tenon/devices_list.inc"
#undef TENON_ENTRY
  };
}

const Registry& default_registry() {
  static const Registry registry{runtime::Libraries()};
  return registry;
}

}  // namespace tenon::compiler
