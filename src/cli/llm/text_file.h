// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::cli {

/// The text of a file with a prompt, without the end of its last line. Errors: file_missing; bad_file (a folder; bytes that are
/// no UTF-8, with their place).
Result<std::string> read_text_file(const std::string& path);

/// Checks that a text is valid UTF-8. place: names the text. Errors: `code`, with the offset of the invalid bytes.
Result<void> check_text(std::string_view text, const std::string& place, Code code = Code::bad_input);

}  // namespace tenon::cli
