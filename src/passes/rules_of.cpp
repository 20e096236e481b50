// SPDX-License-Identifier: Apache-2.0
#include "passes/rules_of.h"

#include "rules/registry/registry.h"

namespace tenon::passes {

Result<rewrite::RuleSet> rules_of(const Options& options, const ir::OpTable& ops) {
  std::vector<rewrite::RulePtr> out;
  for (const rules::Entry& entry : TRY(rules::select(options.rule_selection)))
    if (!options.disabled.contains(entry.file) && !options.disabled.contains(entry.rule->name))
      out.push_back(TRY(rules::compile(entry, ops)));
  for (const rewrite::RulePtr& rule : options.own)
    if (!options.disabled.contains(rule->name)) out.push_back(rule);
  return rewrite::RuleSet(std::move(out), ops);
}

}  // namespace tenon::passes
