// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tenon::files {

/// A name from a file that may be damaged, for errors: printable ASCII as it is, other bytes as \xNN; of more than 80 bytes the first
/// ones and "...".
std::string printable(std::string_view name);

}  // namespace tenon::files
