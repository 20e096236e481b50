// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

/// The names between the commas of what an option was given, however often: "a,b" and "c" are three. Errors: bad_usage for an empty one,
/// which a stray comma or a shell's variable that is not set leaves.
Result<std::vector<std::string>> names_between_commas(const std::string& option, std::span<const std::string> given);

}  // namespace tenon::cli
