// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::cli {

/// The text of a file that a prompt is made of, without the end of its last line. Errors: file_missing; bad_file (a folder; bytes that are
/// no UTF-8, with their place).
Result<std::string> read_text_file(const std::string& path);

/// Errors: code (bytes that are no UTF-8, with their place in what `place` names).
Result<void> check_text(std::string_view text, const std::string& place, Code code = Code::bad_input);

}  // namespace tenon::cli
