// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.h"

namespace tenon::passes {

/// The rules that the options select, compiled, without disabled ones. They are tried by benefit; of equal benefit those of the library
/// come first, as registered, then Options::own. Errors: bad_usage for an unknown name; bad_rule.
Result<rewrite::RuleSet> rules_of(const Options& options, const ir::OpTable& ops);

}  // namespace tenon::passes
