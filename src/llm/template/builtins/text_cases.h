// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Parts of Python's str that filters and methods share.
namespace tenon::llm::jinja {

/// The first character in title case, the others in lower case.
std::string capitalized(std::string_view text);
/// str.title(): the first letter of each run of letters in title case.
std::string titled(std::string_view text);
/// str.splitlines(); keeps_ends: lines keep their line ends.
std::vector<std::string_view> lines_of(std::string_view text, bool keeps_ends = false);
/// str.replace(); most: of the replacements, -1: all. An empty `from` matches between all characters.
std::string replaced(std::string_view text, std::string_view from, std::string_view to, int64_t most);
/// The number of replacements that replaced() would make.
size_t occurrences(std::string_view text, std::string_view part);

}  // namespace tenon::llm::jinja
