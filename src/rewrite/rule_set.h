// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "rewrite/equation.h"
#include "rewrite/rule.h"

namespace tenon::rewrite {

/// A rule made ready for one table of ops.
struct CompiledRule {
  const Rule* rule = nullptr;
  std::unique_ptr<Equation> equation;  ///< null for code rules
};

/// Rules in the order in which they are tried, and one automaton over all of them: a trie over the op of the node, of one of
/// its operands, and of one of that one's operands. What it costs to find the candidates of a node depends on the node's
/// operands, not on the number of rules.
class RuleSet {
 public:
  /// Errors: bad_rule where an equation does not parse. A rule that names an op that the table lacks is left out (see inactive()).
  static Result<RuleSet> make(std::span<const Rule* const> rules, const ir::OpTable& ops);

  size_t size() const { return rules_.size(); }
  const CompiledRule& operator[](size_t index) const { return rules_[index]; }
  /// Rules that may match at the node, best first. Cost: operands of the node and of its producers.
  void candidates(const ir::Graph& graph, ir::NodeId node, std::vector<uint32_t>& out) const;
  /// "rule: op that is missing"
  const std::vector<std::string>& inactive() const { return inactive_; }

 private:
  struct Branch {
    std::vector<uint32_t> rules;
    std::unordered_map<const ir::Op*, Branch> next;
  };
  Result<void> add(const Rule& rule, const ir::OpTable& ops);
  void hang(const Equation& equation, uint32_t index);
  void hang_below(const Equation& equation, int term, int depth, Branch& branch, uint32_t index);

  std::deque<CompiledRule> rules_;
  std::vector<uint32_t> any_;  ///< rules without a declared root
  Branch root_;
  std::vector<std::string> inactive_;
};

}  // namespace tenon::rewrite
