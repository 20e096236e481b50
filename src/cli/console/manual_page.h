// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/console/command_info.h"

namespace tenon::cli {

/// The page of section 1, in the macros of man(7).
std::string manual_page(const CommandInfo& program);

}  // namespace tenon::cli
