// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::llm {

/// The pattern, which is UTF-8, in PCRE2's syntax with the meaning that it has in Oniguruma's Ruby syntax:
///   \s \S     White_Space (PCRE2's has U+180E in addition)
///   \w \W     letters, marks, decimal digits, connectors
///   \h \H     hexadecimal digits (PCRE2: horizontal spaces)
///   \p{Han}   the script (PCRE2: its extensions)
///   x{1,3}+   the interval repeated (PCRE2: possessive)
///   [a[b]]    a class in a class adds its members
///   (?m)      '.' takes newlines
/// Source: Oniguruma's doc/RE, pcre2pattern(3). Errors: not_supported (intersections of classes, negated classes in classes, absent
/// operators, references to named groups, (?-m)).
Result<std::string> pcre2_of_oniguruma(std::string_view pattern, std::string_view place);

}  // namespace tenon::llm
