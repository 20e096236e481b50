// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "backend/backend.h"
#include "runtime/device.h"

namespace tenon::compiler {

/// All that were linked in, by name.
std::span<const backend::Backend* const> all_backends();
/// Those of these names, in their order, then `cpu` and `reference` where they are not among them: the one weaves the program, the other
/// runs what is left. Errors: bad_usage for a name that none has, or that comes twice.
Result<backend::Backends> backends_named(std::span<const std::string> names = {});
/// Their devices. `ops`: what the nodes of an engine may be; outlives the devices.
runtime::Devices all_devices(const ir::OpTable& ops);

}  // namespace tenon::compiler
