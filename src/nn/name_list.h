// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tenon::nn {

/// Lists names for an error: "2 missing: a, b; ", of more than 8 names the first 8; "" for none. what: "missing".
std::string listed(std::string_view what, std::vector<std::string> names);

}  // namespace tenon::nn
