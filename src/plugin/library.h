// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/host.h"
#include "plugin/op.h"
#include "plugin/sealed_memory.h"

namespace tenon::plugin {

/// A library of plugins, open for the rest of the process: threads of its own may run.
struct Library {
  std::filesystem::path file;  ///< or the origin given to library_of
  bool is_file = true;         ///< that others can open too
  int sealed = -1;             ///< the descriptor of the sealed memory that it lies in; -1: none
  std::string name, version;
  std::string sha256;  ///< of the file, or as given to library_of: 64 hexadecimal digits
  uint32_t needs = 0;  ///< lowest version of the interface
  std::vector<Op> ops;
};

/// Opens a library and checks all that it says. A file of the same bytes that is open already is given again.
/// Errors: file_missing, bad_file (not a library; none of Tenon's plugins, saying whose it looks like; ops that cannot be, all at once),
/// wrong_target (made for a newer Tenon); what the library itself says.
Result<std::shared_ptr<const Library>> open_library(const std::filesystem::path& file, const Logger& logger);
/// The same of a library that lies in memory, which stays as long as it.
Result<std::shared_ptr<const Library>> open_library(SealedMemory memory, const Logger& logger);
/// The open one of these bytes; null where there is none.
std::shared_ptr<const Library> open_library_of(std::string_view sha256);

/// A library that this process made in its own memory, of which as much lives as of a file's: until the process ends.
/// origin: is in messages where a file would; sha256: of all that makes it compute what it does. Errors: those of open_library.
Result<std::shared_ptr<const Library>> library_of(const tenon_library& given, std::string origin, std::string sha256,
                                                  const Logger& logger = {});

/// 64 hexadecimal digits. Errors: file_missing.
Result<std::string> sha256_of(const std::filesystem::path& file);
/// Of the text itself.
std::string sha256_of_text(std::string_view text);

}  // namespace tenon::plugin
