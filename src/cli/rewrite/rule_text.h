// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "rewrite/compile/compiled_rule.h"
#include "rules/registry/registry.h"

namespace tenon::cli {

/// The description of a rule, from the library or from a file.
struct RuleText {
  std::string name, docs;
  std::string sets, seeds, roots;  ///< names, separated by blanks; seeds: CompiledRule::covered_patterns
  std::string numerics, stage, file;
  std::string equation;  ///< empty: the rule is code
  int benefit = 1;
  bool shared = false;  ///< CompiledRule::allow_outside_uses
};

RuleText text_of(const rules::Entry& entry);
/// file: the file of the rule.
RuleText text_of(const rewrite::CompiledRule& rule, const std::string& file);
nlohmann::ordered_json json_of(const RuleText& rule);
/// The description as lines; the parts of the equation are on separate lines.
std::vector<std::string> lines_of(const RuleText& rule);

}  // namespace tenon::cli
