// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tenon::nn {

/// For errors: "2 missing: a, b; ", of many the first 8; "" for none.
std::string listed(std::string_view what, std::vector<std::string> names);

}  // namespace tenon::nn
