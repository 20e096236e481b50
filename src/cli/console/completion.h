// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/console/command_table.h"

namespace tenon::cli {

/// Shell scripts that complete verbs, options, the values of an option, files and folders.
std::string bash_completion(const CommandRow& program);
std::string zsh_completion(const CommandRow& program);
std::string fish_completion(const CommandRow& program);

}  // namespace tenon::cli
