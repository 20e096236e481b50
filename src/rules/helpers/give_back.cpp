// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/give_back.h"

#include <algorithm>

namespace tenon::rules {
using namespace rewrite;

bool same_type_as_first(Match& m) { return m.operand(m.root(), 0) && m.same_type(m.result(m.root()), m.operand(m.root(), 0)); }

bool give(const Match& m, Rewriter& w, ValueId value) {
  w.replace(m.result(m.root()), value);
  return true;
}

bool give_all(const Match& m, Rewriter& w, const std::vector<ValueId>& results) {
  for (size_t i = 0; i < results.size(); ++i)
    if (m.result(m.root(), i)) w.replace(m.result(m.root(), i), results[i]);
  return true;
}

std::vector<std::pair<std::string, ir::Attribute>> attributes_but(const ir::Node& node, std::initializer_list<std::string_view> names) {
  std::vector<std::pair<std::string, ir::Attribute>> out;
  for (const auto& [name, value] : node.attributes)
    if (std::ranges::find(names, name) == names.end()) out.emplace_back(name, value);
  return out;
}

bool give_first(const Match& m, Rewriter& w) { return give(m, w, m.operand(m.root(), 0)); }

bool give_kept(const Match& m, Rewriter& w) { return give(m, w, m.kept<ValueId>()); }

}  // namespace tenon::rules
