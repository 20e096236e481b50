// SPDX-License-Identifier: Apache-2.0
#include "compiler/backends.h"

#include <algorithm>

#include "backends/reference/device/reference.h"

namespace tenon::backends {
#define TENON_ENTRY(x) const backend::Backend& backend_##x();
#include "tenon/backends_list.inc"
#undef TENON_ENTRY
#define TENON_ENTRY(x) std::shared_ptr<const runtime::Device> device_##x();
#include "tenon/devices_list.inc"
#undef TENON_ENTRY
}  // namespace tenon::backends

namespace tenon::compiler {

std::span<const backend::Backend* const> all_backends() {
#define TENON_ENTRY(x) &backends::backend_##x(),
  static const backend::Backend* const kBackends[] = {
#include "tenon/backends_list.inc"
  };
#undef TENON_ENTRY
  return kBackends;
}

Result<backend::Backends> backends_named(std::span<const std::string> names) {
  backend::Backends out;
  const auto add = [&](std::string_view name) -> Result<void> {
    std::string known;
    for (const backend::Backend* b : all_backends()) {
      known.append(known.empty() ? "" : ", ").append(b->name());
      if (b->name() == name) out.push_back(b);
    }
    if (!out.empty() && out.back()->name() == name) return {};
    return fail(Code::bad_usage, "backend '" + std::string(name) + "'", "there is no such backend").expected(known);
  };
  for (const std::string& name : names) {
    if (std::ranges::any_of(out, [&](const backend::Backend* b) { return b->name() == name; }))
      return fail(Code::bad_usage, "backend '" + name + "'", "it is named twice").advice("name each once, in the order of priority");
    TRY(add(name));
  }
  for (std::string_view name : {"cpu", "reference"})
    if (std::ranges::none_of(out, [&](const backend::Backend* b) { return b->name() == name; })) TRY(add(name));
  return out;
}

runtime::Devices all_devices(const ir::OpTable& ops) {
  return {
      backends::reference::device(ops),
#define TENON_ENTRY(x) backends::device_##x(),
#include "tenon/devices_list.inc"
#undef TENON_ENTRY
  };
}

}  // namespace tenon::compiler
