// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::compiler {

/// Where a build reports; each may be empty.
struct BuildMessages {
  std::function<void(std::string_view line)> note;  ///< what is built, and where; how long it took
  std::function<void(std::string_view step)> step;  ///< as CompileOptions::progress
  std::function<void(std::string_view warning)> warning;
};

/// The engine file of a checkpoint (GGUF, or a folder of Hugging Face) in the user's cache, $XDG_CACHE_HOME/tenon/engines, built where it
/// is not there yet. Its name has a hash of the checkpoint's files (paths, sizes, times), of `context`, the CPU and this program: a file
/// that changes is built anew. It appears whole or not at all. context: tokens; 0: the model's own. Errors: those of read_model() and
/// compile(); bad_usage (another file; no folder for the cache); file_missing; write_failed.
Result<std::filesystem::path> cached_engine(const std::filesystem::path& checkpoint, int64_t context, const BuildMessages& messages);

/// The name in the cache. Errors: file_missing.
Result<std::string> cached_engine_name(const std::filesystem::path& checkpoint, int64_t context);

}  // namespace tenon::compiler
