// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/replace_root.h"

#include <algorithm>

namespace tenon::rules {
using namespace rewrite;

bool root_has_type_of_first_operand(Match& m) { return m.operand(m.root(), 0) && m.same_type(m.result(m.root()), m.operand(m.root(), 0)); }

bool replace_root(const Match& m, Rewriter& w, ValueId value) {
  w.replace(m.result(m.root()), value);
  return true;
}

bool replace_root_results(const Match& m, Rewriter& w, const std::vector<ValueId>& results) {
  for (size_t i = 0; i < results.size(); ++i)
    if (m.result(m.root(), i)) w.replace(m.result(m.root(), i), results[i]);
  return true;
}

std::vector<std::pair<std::string, ir::Attribute>> attributes_except(const ir::Node& node, std::initializer_list<std::string_view> names) {
  std::vector<std::pair<std::string, ir::Attribute>> out;
  for (const auto& [name, value] : node.attributes)
    if (std::ranges::find(names, name) == names.end()) out.emplace_back(name, value);
  return out;
}

bool replace_root_with_first_operand(const Match& m, Rewriter& w) { return replace_root(m, w, m.operand(m.root(), 0)); }

bool replace_root_with_state(const Match& m, Rewriter& w) { return replace_root(m, w, m.state<ValueId>()); }

}  // namespace tenon::rules
