// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.h"

namespace tenon::passes {

/// The rules that the options name, compiled, without those that are disabled. They are tried by benefit; of equal ones those of the
/// library first, as registered, then `own`. Errors: bad_usage for a name that nobody has; bad_rule.
Result<rewrite::RuleSet> rules_of(const Options& options, const ir::OpTable& ops);

}  // namespace tenon::passes
