// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::compiler {

/// What a BuildConfig of TensorRT-LLM asks of the build of a checkpoint; by default what is built without one.
struct BuildConfig {
  std::string place = {};        ///< its file; empty: there is none
  std::string max_seq_len = {};  ///< the place of that field, for errors
  int64_t context = 0;           ///< tokens of a sequence; 0: those of the checkpoint
  int64_t most_input = 0;        ///< tokens of a prompt; 0: as many as the context has
  int64_t most_tokens = 0;       ///< tokens of a run; 0: as many
  int64_t chunk = 0;             ///< tokens of a prompt that run at once; 0: the session's own
  bool has_cache = true;
  bool all_logits = false;
  bool plain_attention = false;
  bool dry_run = false;  ///< `tenon build` alone

  /// What sessions read of the engine: files::TextPart::session_limits. Empty: nothing.
  std::string session_limits() const;
  /// All that changes an engine, for names of engines in a cache.
  std::string identity() const;
};

/// The rules that join plain ops to Attention: they do not run where BuildConfig::plain_attention is set (CompileOptions::off).
inline constexpr std::string_view kAttentionRule = "fuse/attention";

/// text: JSON (BuildConfigJson). Errors: those of its parsing; not_supported, naming the field and the reason; bad_input (fields that
/// contradict each other).
Result<BuildConfig> parse_build_config(std::string_view text, std::string place);
/// Of a file. Errors: also file_missing, limit_exceeded (a file of over 1 MB).
Result<BuildConfig> read_build_config(const std::filesystem::path& file);
/// Of `text`, or of the file where that is empty; neither: what is built without one.
Result<BuildConfig> build_config_of(const std::filesystem::path& file, std::string_view text);
/// Errors: not_supported for a dry run, where only an engine is of use.
Result<void> refuse_dry_run(const BuildConfig& config);

}  // namespace tenon::compiler
