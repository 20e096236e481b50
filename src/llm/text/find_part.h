// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace tenon::llm {

/// As find() and rfind() of std::string_view, whose time is the product of both sizes in the worst case ('aa...a' for 'a...ab'). Cost:
/// linear in both; the last one copies them.
size_t find_part(std::string_view text, std::string_view part, size_t from = 0);
size_t find_last_part(std::string_view text, std::string_view part);

}  // namespace tenon::llm
