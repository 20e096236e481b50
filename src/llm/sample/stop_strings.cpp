// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/stop_strings.h"

#include <algorithm>

namespace tenon::llm {

Result<StopStrings> StopStrings::make(std::vector<std::string> strings) {
  if (std::ranges::any_of(strings, &std::string::empty))
    return fail(Code::bad_usage, "stop strings", "a stop string is empty").expected("at least one character").found("none");
  return StopStrings(std::move(strings));
}

size_t StopStrings::pending() const {
  const std::string_view held = held_;
  size_t longest = 0;
  for (const std::string& string : strings_)
    for (size_t length = std::min(string.size() - 1, held.size()); length > longest; --length)
      if (held.ends_with(std::string_view(string).substr(0, length))) longest = length;
  return longest;
}

void StopStrings::add(std::string_view piece, std::string& shown) {
  if (stopped_) return;
  held_ += piece;
  size_t first = std::string::npos, first_end = std::string::npos;
  for (const std::string& string : strings_) {
    const size_t begin = held_.find(string);
    if (begin == std::string::npos) continue;
    const size_t end = begin + string.size();
    if (end > first_end || (end == first_end && begin > first)) continue;
    first = begin;
    first_end = end;
  }
  stopped_ = first != std::string::npos;
  const size_t sure = stopped_ ? first : held_.size() - pending();
  shown.append(held_, 0, sure);
  held_.erase(0, stopped_ ? held_.size() : sure);
}

void StopStrings::finish(std::string& shown) {
  shown += held_;
  held_.clear();
}

void StopStrings::reset() {
  held_.clear();
  stopped_ = false;
}

bool StopTokens::contains(int32_t token) const { return std::ranges::find(tokens_, token) != tokens_.end(); }

}  // namespace tenon::llm
