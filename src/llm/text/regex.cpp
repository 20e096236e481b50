// SPDX-License-Identifier: Apache-2.0
#include "llm/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <string>

#include "llm/text/oniguruma.h"
#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

constexpr size_t kMostPattern = 65'536;
constexpr uint32_t kMostSteps = 10'000'000, kStepsOfByte = 100, kMostKilobytes = 1'000'000, kMostNesting = 200;

// '.' takes newlines and '^' and '$' are those of lines, as in PyPI tokenizers' use of Oniguruma.
constexpr uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_DOTALL | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;

PCRE2_SPTR8 units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR8>(text.data()); }

std::string message_of(int error) {
  std::array<PCRE2_UCHAR8, 200> text{};
  pcre2_get_error_message_8(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

struct MatchState {
  pcre2_match_data_8* data = nullptr;
  pcre2_match_context_8* context = nullptr;
  MatchState(const pcre2_code_8* code, size_t text_size)
      : data(pcre2_match_data_create_from_pattern_8(code, nullptr)), context(pcre2_match_context_create_8(nullptr)) {
    if (!data || !context) return;
    const uint64_t steps = kMostSteps + uint64_t{kStepsOfByte} * text_size;
    pcre2_set_match_limit_8(context, static_cast<uint32_t>(std::min<uint64_t>(steps, UINT32_MAX)));
    pcre2_set_heap_limit_8(context, kMostKilobytes);
  }
  MatchState(const MatchState&) = delete;
  MatchState& operator=(const MatchState&) = delete;
  ~MatchState() {
    pcre2_match_data_free_8(data);
    pcre2_match_context_free_8(context);
  }
};

}  // namespace

Result<Regex> Regex::compile(std::string_view pattern, std::string_view place) {
  if (pattern.size() > kMostPattern)
    return fail(Code::limit_exceeded, std::string(place), "a regular expression is too long")
        .expected(fmt::format("at most {} bytes", kMostPattern))
        .found(fmt::format("{}", pattern.size()));
  const std::string translated = TRY(pcre2_of_oniguruma(sound_utf8(pattern), place));
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_compile_context_8* context = pcre2_compile_context_create_8(nullptr);
  if (context) pcre2_set_parens_nest_limit_8(context, kMostNesting);
  pcre2_code_8* code = pcre2_compile_8(units(translated), translated.size(), kOptions, &error, &offset, context);
  pcre2_compile_context_free_8(context);
  if (!code)
    return fail(Code::bad_file, std::string(place), "a regular expression cannot be read: " + message_of(error))
        .expected("one in Oniguruma's syntax that PCRE2 has too")
        .found(fmt::format("'{}', at byte {} of '{}'", pattern.substr(0, 200), offset, translated.substr(0, 200)));
  return Regex(std::shared_ptr<pcre2_code_8>(code, pcre2_code_free_8));
}

Result<std::vector<TextRange>> Regex::matches(std::string_view text) const {
  const MatchState state(code_.get(), text.size());
  if (!state.data || !state.context) return fail(Code::out_of_memory, "tokenizer", "no memory for a regular expression");
  std::vector<TextRange> out;
  for (size_t from = 0; from <= text.size();) {
    const int found = pcre2_match_8(code_.get(), units(text), text.size(), from, PCRE2_NO_UTF_CHECK, state.data, state.context);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0)
      return fail(Code::limit_exceeded, "tokenizer", "a regular expression takes too long: " + message_of(found))
          .expected(fmt::format("at most {} steps and {} a byte of text", kMostSteps, kStepsOfByte))
          .found(fmt::format("more, for a text of {} bytes", text.size()));
    const PCRE2_SIZE* place = pcre2_get_ovector_pointer_8(state.data);
    const TextRange match{place[0], std::max(place[0], place[1])};
    if (match.size() == 0 && !out.empty() && out.back().end == match.end) {
      from += from < text.size() ? utf8_step(text, from).length : 1;
      continue;
    }
    out.push_back(match);
    from = match.end;
  }
  return out;
}

}  // namespace tenon::llm
