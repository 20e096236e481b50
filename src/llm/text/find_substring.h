// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace tenon::llm {

/// As find() and rfind() of std::string_view, but in time linear in both sizes; those take their product in the worst case ('aa...a' for
/// 'a...ab'). find_last_substring() copies both.
size_t find_substring(std::string_view text, std::string_view pattern, size_t from = 0);
size_t find_last_substring(std::string_view text, std::string_view pattern);

}  // namespace tenon::llm
