// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::compiler {

/// The options of a BuildConfig of TensorRT-LLM that change how a checkpoint is built. The defaults are those of a build without a
/// BuildConfig.
struct BuildConfig {
  std::string place = {};        ///< path of the BuildConfig's file, for errors; empty: there is no BuildConfig
  std::string max_seq_len = {};  ///< where the field max_seq_len is in the file, for errors
  int64_t context = 0;           ///< most tokens of a sequence; 0: the context of the checkpoint
  int64_t most_input = 0;        ///< most tokens of a prompt; 0: `context`
  int64_t most_tokens = 0;       ///< most tokens of a run; 0: `context`
  int64_t chunk = 0;             ///< tokens of a prompt that run at once; 0: the session's own
  bool has_cache = true;         ///< these three: see nn::DecoderOptions
  bool all_logits = false;
  bool plain_attention = false;
  bool dry_run = false;  ///< check the options without building; only `tenon build` has this

  /// The text asset session_limits, which sessions read from the engine. Empty: no limits.
  std::string session_limits() const;
  /// A text of all fields that change an engine, to be hashed into the names of cached engines.
  std::string identity() const;
};

/// The rules that join plain ops to Attention: they do not run where BuildConfig::plain_attention is set (CompileOptions::off).
inline constexpr std::string_view kAttentionRule = "fuse/attention";

/// Reads a BuildConfig from JSON text (BuildConfigJson). Errors: those of its parsing; not_supported, naming the field and the reason;
/// bad_input (fields that contradict each other).
Result<BuildConfig> parse_build_config(std::string_view text, std::string place);
/// Reads a BuildConfig from a file. Errors: also file_missing, limit_exceeded (a file of over 1 MB).
Result<BuildConfig> read_build_config(const std::filesystem::path& file);
/// Reads a BuildConfig from `text`, or from the file where the text is empty; the defaults where both are empty.
Result<BuildConfig> build_config_of(const std::filesystem::path& file, std::string_view text);
/// Errors: not_supported for a dry run, where only an engine is of use.
Result<void> refuse_dry_run(const BuildConfig& config);

}  // namespace tenon::compiler
