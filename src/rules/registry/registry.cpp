// SPDX-License-Identifier: Apache-2.0
#include "rules/registry/registry.h"

namespace tenon::rules {

#define TENON_ENTRY(FOLDER, NAME, SOURCE)                   \
  namespace FOLDER##_##NAME {                               \
    extern const rewrite::RuleList rules_##FOLDER##_##NAME; \
  }
#include "tenon/rules_list.inc"
#undef TENON_ENTRY

namespace {

namespace folder {
[[maybe_unused]] constexpr rewrite::Stage clean = rewrite::Stage::clean;
[[maybe_unused]] constexpr rewrite::Stage fuse = rewrite::Stage::fuse;
[[maybe_unused]] constexpr rewrite::Stage trim = rewrite::Stage::trim;
[[maybe_unused]] constexpr rewrite::Stage combine = rewrite::Stage::combine;
[[maybe_unused]] constexpr rewrite::Stage onnxruntime = rewrite::Stage::target;  // the finished graph in the ops of that runtime
}  // namespace folder

const RuleFile kFiles[] = {
#define TENON_ENTRY(FOLDER, NAME, SOURCE) \
  {#FOLDER "/" #NAME, "src/rules/" SOURCE, folder::FOLDER, &FOLDER##_##NAME::rules_##FOLDER##_##NAME},
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
        out.push_back({&rule, file.stage, rule.sets.empty() ? file.list->sets : rule.sets, file.name, file.source});
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
