// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tenon::cli {

/// Wraps words to lines of at most `width` columns; a longer word has a line of its own. Line ends in `text` are blanks.
std::vector<std::string> wrapped(std::string_view text, size_t width);

/// The width of help texts: columns of the terminal, else $COLUMNS, else 100; clamped to 40 to 120.
size_t help_width();

}  // namespace tenon::cli
