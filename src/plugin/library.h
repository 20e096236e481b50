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
  bool is_file = true;         ///< `file` is a file, which other processes can open too
  int sealed = -1;             ///< the descriptor of the sealed memory that it lies in; -1: none
  std::string name, version;
  std::string sha256;  ///< of the file, or as given to library_of: 64 hexadecimal digits
  uint32_t needs = 0;  ///< lowest version of the interface
  std::vector<Op> ops;
};

/// Opens a library and checks all that it declares. Where a file with the same bytes is open already, returns that library.
/// Errors: file_missing, bad_file (not a library; a library for another host, which the error names; invalid ops, all in one error),
/// wrong_target (made for a newer Tenon); errors of the library's own functions.
Result<std::shared_ptr<const Library>> open_library(const std::filesystem::path& file, const Logger& logger);
/// The same of a library that lies in memory, which stays as long as it.
Result<std::shared_ptr<const Library>> open_library(SealedMemory memory, const Logger& logger);
/// The open library with this hash; null where there is none.
std::shared_ptr<const Library> open_library_of(std::string_view sha256);

/// Registers a library whose functions are in this process (of Python). `given` and what it points to live until the process ends.
/// origin: used in messages in place of a file name; sha256: a hash of all that determines what it computes. Errors: those of open_library.
Result<std::shared_ptr<const Library>> library_of(const tenon_library& given, std::string origin, std::string sha256,
                                                  const Logger& logger = {});

/// 64 hexadecimal digits. Errors: file_missing.
Result<std::string> sha256_of(const std::filesystem::path& file);
/// Of the text itself.
std::string sha256_of_text(std::string_view text);

}  // namespace tenon::plugin
