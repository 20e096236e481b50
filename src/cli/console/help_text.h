// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/console/command_info.h"

namespace tenon::cli {

/// The help of a command that is called as `called` ("tenon run"): usage, arguments, options by group, examples, in lines of at most
/// `width` columns where the words allow it. all: rare groups of options too (is_rare).
std::string help_text(const CommandInfo& command, const std::string& called, bool all, size_t width);

}  // namespace tenon::cli
