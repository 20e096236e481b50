// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>

#include "base/cpu.h"
#include "engine/reader.h"
#include "runtime/engine.h"

namespace tenon::runtime {

/// Options of load_engine().
struct LoadOptions {
  bool verify = false;               ///< check every byte of the file, weights and padding included
  Devices devices = {};              ///< that may run its segments
  CpuFeatures cpu = cpu_features();  ///< of the CPU that has to run the code
};

/// Maps an engine file and makes it ready to run. Weights are not read until they are used.
/// Errors: file_missing, bad_file, wrong_target (another CPU, another format), not_supported (no native code inside: compile it from its
/// graph, which needs the full library).
Result<std::shared_ptr<Engine>> load_engine(const std::filesystem::path& path, const LoadOptions& options = {});

/// The programs that an engine file holds. Errors: bad_file for damaged ones, or none (a portable engine has none).
Result<ProgramTable> read_programs(const engine::Reader& reader);

/// The target of one code section of an engine file.
struct CodeTarget {
  uint32_t tag = 0;
  std::string title;         ///< "AVX-512"
  std::string cpu_features;  ///< that it needs: names as in CpuFeatures, separated by blanks
};
/// The targets of all code sections, in the order of the file.
std::vector<CodeTarget> code_targets(const engine::Reader& reader);

}  // namespace tenon::runtime
