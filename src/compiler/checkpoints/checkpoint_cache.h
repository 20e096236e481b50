// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "compiler/options/checkpoint_options.h"

namespace tenon::compiler {

/// Functions that a build calls with its messages; each may be empty.
struct BuildMessages {
  std::function<void(std::string_view line)> note;  ///< which engine is built, its file, and the time that it took
  std::function<void(std::string_view step)> step;  ///< called as each step begins (CompileOptions::progress)
  std::function<void(std::string_view warning)> warning;
};

/// The engine file of a checkpoint (GGUF, a Hugging Face folder, an ONNX decoder) in the user's cache, $XDG_CACHE_HOME/tenon/engines,
/// built where it is not there yet. Its name has a hash of the files of the checkpoint and its adapters (paths, sizes, times), of the
/// options, the CPU and this program: where one of these changes, the engine is built anew. It is written atomically; the least
/// recently used engines are removed to make room for it (engine_cache_limit()). Errors: those of read_model() and compile(); bad_usage
/// (a file that is none of these checkpoints; no folder for the cache is found; $TENON_CACHE_SIZE is no size); file_missing; write_failed.
Result<std::filesystem::path> cached_engine(const std::filesystem::path& checkpoint, const CheckpointOptions& options,
                                            const BuildMessages& messages);

/// The file name that cached_engine() gives the engine. Errors: file_missing.
Result<std::string> cached_engine_name(const std::filesystem::path& checkpoint, const CheckpointOptions& options);

}  // namespace tenon::compiler
