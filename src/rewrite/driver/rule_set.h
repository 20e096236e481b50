// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rewrite/compile/compiled_rule.h"
#include "rewrite/driver/automaton.h"

namespace tenon::rewrite {

/// Rules in the order in which they are tried (benefit, then as given), and one automaton over all of them.
class RuleSet {
 public:
  explicit RuleSet(std::vector<RulePtr> rules, const ir::OpTable& ops);
  /// Errors: bad_rule where an equation does not parse. A rule that names an op that the table lacks is left out (see inactive()).
  static Result<RuleSet> make(std::span<const Rule* const> rules, const ir::OpTable& ops);

  /// The rules for which the predicate is true. The automaton is shared with this set.
  RuleSet where(const std::function<bool(const CompiledRule&)>& predicate) const;

  size_t size() const { return rules_.size(); }
  const CompiledRule& operator[](size_t index) const { return *rules_[index]; }
  /// Rules that may match at the node, best first. Cost: the tests that the node passes, not the number of rules.
  void candidates(const ir::Graph& graph, ir::NodeId node, std::vector<uint32_t>& out) const;
  /// "RULE: op NAME" for each rule that names an op which the table lacks: only nodes of ops of other tables (unknown ones, plugins) match
  /// it.
  const std::vector<std::string>& inactive() const { return inactive_; }

 private:
  RuleSet() = default;
  void add_to_automaton(const CompiledRule& rule, uint32_t index, const ir::OpTable& ops, Automaton& automaton);

  std::vector<RulePtr> rules_;
  std::vector<uint32_t> rules_for_all_ops_;  ///< rules without roots, or with the root "*"
  /// Root and rule where the table lacks the root: ops of other tables (plugins, unknown ones) may have its name.
  std::vector<std::pair<std::string, uint32_t>> rules_by_op_name_;
  std::shared_ptr<const Automaton> automaton_;
  std::vector<RulePtr> automaton_rules_;  ///< the rules that the automaton was built from, and points into
  std::vector<uint32_t>
      index_of_automaton_rule_;  ///< by the automaton's index of a rule: its index in this set, or kNone; empty: the indices are equal
  std::vector<std::string> inactive_;
};

}  // namespace tenon::rewrite
