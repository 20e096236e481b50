// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "rewrite/compile/compiled_rule.h"
#include "rules/registry/registry.h"

namespace tenon::cli {

/// What there is to say of a rule, wherever it comes from.
struct RuleText {
  std::string name, docs;
  std::string sets, seeds, roots;  ///< separated by blanks
  std::string numerics, stage, file;
  std::string equation;  ///< empty: the rule is code
  int benefit = 1;
  bool shared = false;
};

RuleText text_of(const rules::Entry& entry);
/// file: where it was read from.
RuleText text_of(const rewrite::CompiledRule& rule, const std::string& file);
nlohmann::ordered_json json_of(const RuleText& rule);
/// One fact a line, the equation with its parts on lines of their own.
std::vector<std::string> lines_of(const RuleText& rule);

}  // namespace tenon::cli
