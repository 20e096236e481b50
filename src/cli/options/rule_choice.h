// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/op.h"
#include "rewrite/compile/compiled_rule.h"
#include "rules/registry/registry.h"

namespace tenon::cli {

/// The parsed arguments of --rules.
struct RuleChoice {
  std::string expression;               ///< for rules::select; empty: no rule of the library
  std::vector<rewrite::RulePtr> files;  ///< rules of files, in the order given
};

/// arguments: each a .rules file (it ends in .rules, or a file of that name exists) or an expression of sets, joined in their order; one
/// that starts with + or - continues the expression before it, the first one continues `default`. No argument: `default`.
/// Errors: bad_usage (a name that nobody has, with the nearest one), file_missing, bad_rule.
Result<RuleChoice> choose_rules(const std::vector<std::string>& arguments, const ir::OpTable& ops);

/// Whether an argument of --rules is taken for a file.
bool is_rules_file(const std::string& argument);
/// The rules of one file. Errors: file_missing, bad_rule.
Result<std::vector<rewrite::RulePtr>> read_rules_file(const std::string& path, const ir::OpTable& ops);

}  // namespace tenon::cli
