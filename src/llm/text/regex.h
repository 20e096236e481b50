// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

struct pcre2_real_code_8;

namespace tenon::llm {

/// A range of bytes of a text.
struct TextRange {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

/// A regular expression of a tokenizer, written in Oniguruma's syntax and run by PCRE2. Copies share the compiled form.
class Regex {
 public:
  /// Errors: bad_file (no regular expression; with the place in it), not_supported (what oniguruma.h lists), limit_exceeded (65,536 bytes).
  static Result<Regex> compile(std::string_view pattern, std::string_view place);

  /// The matches in a text that is sound UTF-8, from left to right; none is empty at the end of the one before, as Oniguruma's.
  /// Errors: limit_exceeded (a match of over 10,000,000 steps and 100 a byte, or of over 1 GB). Cost: what the expression takes.
  Result<std::vector<TextRange>> matches(std::string_view text) const;

 private:
  explicit Regex(std::shared_ptr<pcre2_real_code_8> code) : code_(std::move(code)) {}
  std::shared_ptr<pcre2_real_code_8> code_;
};

}  // namespace tenon::llm
