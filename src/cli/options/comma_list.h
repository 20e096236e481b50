// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

/// The names in the values of an option, separated by commas: the values "a,b" and "c" have three. Errors: bad_usage for an empty
/// name.
Result<std::vector<std::string>> names_between_commas(const std::string& option, std::span<const std::string> given);

}  // namespace tenon::cli
