// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Parts of Python's str that filters and methods share.
namespace tenon::llm::jinja {

/// The first character in title case, the others in lower case.
std::string capitalized(std::string_view text);
/// str.title(): each run of letters with a title-case first one.
std::string titled(std::string_view text);
/// str.splitlines(), without the ends of the lines.
std::vector<std::string_view> lines_of(std::string_view text, bool keeps_ends = false);
/// str.replace(); most: of the replacements, -1: all. An empty `from` stands between all characters.
std::string replaced(std::string_view text, std::string_view from, std::string_view to, int64_t most);
/// How many times replaced() replaces.
size_t occurrences(std::string_view text, std::string_view part);

}  // namespace tenon::llm::jinja
