// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/host.h"
#include "plugin/op.h"

namespace tenon::plugin {

/// A library of plugins, open for the rest of the process: threads of its own may run.
struct Library {
  std::filesystem::path file;
  std::string name, version;
  std::string sha256;  ///< of the file: 64 hexadecimal digits
  uint32_t needs = 0;  ///< lowest version of the interface
  std::vector<Op> ops;
};

/// Opens a library and checks all that it says. A file of the same bytes that is open already is given again.
/// Errors: file_missing, bad_file (not a library; none of Tenon's plugins, saying whose it looks like; ops that cannot be, all at once),
/// wrong_target (made for a newer Tenon); what the library itself says.
Result<std::shared_ptr<const Library>> open_library(const std::filesystem::path& file, const Logger& logger);

/// 64 hexadecimal digits. Errors: file_missing.
Result<std::string> sha256_of(const std::filesystem::path& file);

}  // namespace tenon::plugin
