// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.h"

namespace tenon::passes {

/// The rules that the options name, made ready, without those that are off.
/// Errors: bad_usage for a name that nobody has; bad_rule.
Result<rewrite::RuleSet> rules_of(const Options& options, const ir::OpTable& ops);

}  // namespace tenon::passes
