// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "base/result.h"

namespace tenon::inline base {

/// General advice for errors of this code, for errors without advice of their own. Never empty.
std::string_view advice_of(Code code);
/// `d`, with general advice where it has none. Used where errors leave Tenon: the command line, the public interface.
Diagnostic advised(Diagnostic d);

}  // namespace tenon::inline base
