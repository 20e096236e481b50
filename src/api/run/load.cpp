// SPDX-License-Identifier: Apache-2.0
#include "runtime/load.h"

#include "api/state.h"
#include "runtime/device.h"

namespace tenon::backends {
#define TENON_ENTRY(x) std::shared_ptr<const runtime::Device> device_##x(const runtime::Libraries&);
#include "tenon/devices_list.inc"
#undef TENON_ENTRY
}  // namespace tenon::backends

namespace tenon::inline v1 {

base::Result<std::shared_ptr<runtime::Engine>> open_engine(const std::filesystem::path& path, const LoadOptions& options) {
  const runtime::Libraries libraries = TRY(libraries_of(options, path));
  runtime::Devices devices;
#define TENON_ENTRY(x) devices.push_back(backends::device_##x(libraries));
#include "tenon/devices_list.inc"
#undef TENON_ENTRY
  return runtime::load_engine(path, {.verify = options.verify, .devices = std::move(devices)});
}

}  // namespace tenon::inline v1
