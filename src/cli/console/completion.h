// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/console/command_info.h"

namespace tenon::cli {

/// Shell scripts that complete verbs, options, the values of an option, files and folders.
std::string bash_completion(const CommandInfo& program);
std::string zsh_completion(const CommandInfo& program);
std::string fish_completion(const CommandInfo& program);

}  // namespace tenon::cli
