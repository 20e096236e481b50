// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rewrite/rule.h"

namespace tenon::rules {

/// One file of src/rules.
struct RuleFile {
  std::string_view name;
  const rewrite::RuleList* list;
};

/// All files, sorted by name. The folder listing is the registration.
std::span<const RuleFile> all_files();
/// Rules of one stage in registration order (file name, then order in the file).
std::vector<const rewrite::Rule*> rules_of(rewrite::Stage stage);
/// Rules of the file of that name, or the one rule of that name; empty where neither is known.
std::vector<const rewrite::Rule*> rules_named(std::string_view name);

}  // namespace tenon::rules
