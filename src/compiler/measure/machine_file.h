// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "codegen/cost/machine.h"

namespace tenon::compiler {

/// Where `tenon calibrate` keeps what this machine can do, see cache_path.
inline constexpr std::string_view kMachineFile = "machine";

/// What was found last for this CPU, this release of Tenon and so many threads: a line each, "HASH" and the figures in the order of
/// codegen::Machine. nullopt: nothing was, or there is no such file. Other lines are passed over.
std::optional<codegen::Machine> kept_machine(const std::filesystem::path& path, int threads);
/// Errors: write_failed.
Result<void> keep_machine(const std::filesystem::path& path, const codegen::Machine& machine);

}  // namespace tenon::compiler
