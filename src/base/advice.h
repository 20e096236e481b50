// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "base/result.h"

namespace tenon::inline base {

/// What helps with any error of this code; said where whoever found the error had nothing better to say. Never empty.
std::string_view advice_of(Code code);
/// `d` with advice in any case. For the doors through which errors leave: the command line, the public interface.
Diagnostic advised(Diagnostic d);

}  // namespace tenon::inline base
