// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tenon::files {

/// Makes a name from a file that may be damaged printable in an error: ASCII as it is, other bytes as \xNN; names of more than 80 bytes are
/// cut and end in "...".
std::string printable(std::string_view name);

}  // namespace tenon::files
