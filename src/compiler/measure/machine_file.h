// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>

#include "base/result.h"
#include "codegen/cost/machine.h"

namespace tenon::compiler {

/// The file of cache_path() in which `tenon calibrate` stores compute rates and bandwidths of this machine.
inline constexpr std::string_view kMachineFile = "machine";

/// The figures that were stored last for this CPU, this release of Tenon and `threads` threads. Each line of the file is a hash of these
/// and the figures, in the order of codegen::Machine. nullopt: there are none, or no such file. Malformed lines are skipped.
std::optional<codegen::Machine> read_machine(const std::filesystem::path& path, int threads);
/// Appends the figures of a machine to that file. Errors: write_failed.
Result<void> write_machine(const std::filesystem::path& path, const codegen::Machine& machine);

}  // namespace tenon::compiler
