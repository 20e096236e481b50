// SPDX-License-Identifier: Apache-2.0
#include "rules/registry/registry.h"

namespace tenon::rules {

#define TENON_ENTRY(IDENT)                        \
  namespace rules_##IDENT {                       \
    extern const rewrite::RuleList rules_##IDENT; \
  }
#include "tenon/rules_list.inc"
#undef TENON_ENTRY

namespace {
const RuleFile kFiles[] = {
#define TENON_ENTRY(IDENT) {#IDENT, &rules_##IDENT::rules_##IDENT},
#include "tenon/rules_list.inc"
#undef TENON_ENTRY
};
}  // namespace

std::span<const RuleFile> all_files() { return kFiles; }

std::span<const Entry> all_rules() {
  static const std::vector<Entry> rules = [] {
    std::vector<Entry> out;
    for (const RuleFile& file : kFiles)
      for (const rewrite::Rule& rule : file.list->rules)
        out.push_back({&rule, file.list->stage, rule.sets.empty() ? file.list->sets : rule.sets, file.name});
    return out;
  }();
  return rules;
}

Result<rewrite::RulePtr> compile(const Entry& entry, const ir::OpTable& ops) {
  return rewrite::compile(*entry.rule, ops, entry.stage, entry.sets);
}

std::vector<const rewrite::Rule*> rules_named(std::string_view name) {
  std::vector<const rewrite::Rule*> out;
  for (const RuleFile& file : kFiles)
    for (const rewrite::Rule& rule : file.list->rules)
      if (file.name == name || rule.name == name) out.push_back(&rule);
  return out;
}

}  // namespace tenon::rules
