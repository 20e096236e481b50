// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/op.h"
#include "rewrite/compile/compiled_rule.h"

namespace tenon::rewrite {

inline constexpr size_t kMostRuleBytes = size_t{1} << 20;
inline constexpr size_t kMostRules = 10000;

/// Reads a `.rules` file, a list of statements (docs/rules-language.md):
///
///   set mine                                     # the sets of the rules after it
///   numerics reassociating                       # their class
///   predicate small(?x) = rank(?x) <= 2, constant(?x)
///   # x * 0.5 * (1 + erf(x / sqrt 2))
///   gelu_erf [benefit 6]: Mul(Mul(?x, Add(Erf(Div(?x, 1.4142135)), 1)), 0.5) => Gelu(?x) where float(?x)
///
/// Comment lines right above a rule are its docs. `file_name` is in messages. `names`: what the caller adds to the functions.
/// Errors: bad_rule and not_supported (an op that is not in the table) at FILE:LINE:COLUMN with the line and a caret, what was
/// expected and found, and advice; limit_exceeded over kMostRuleBytes, kMostRules or a limit of Equation::parse.
Result<std::vector<RulePtr>> read_rules(std::string_view text, std::string_view file_name, const ir::OpTable& ops,
                                        const UserFunctions& user_functions = {});

}  // namespace tenon::rewrite
