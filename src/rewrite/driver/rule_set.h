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

  /// Those that `wanted` takes; the automaton is shared, not made anew.
  RuleSet where(const std::function<bool(const CompiledRule&)>& wanted) const;

  size_t size() const { return rules_.size(); }
  const CompiledRule& operator[](size_t index) const { return *rules_[index]; }
  /// Rules that may match at the node, best first. Cost: the tests that the node passes, not the number of rules.
  void candidates(const ir::Graph& graph, ir::NodeId node, std::vector<uint32_t>& out) const;
  /// "rule: op that is missing", or that is a name alone: only nodes of other tables match such a rule, unknown ones and plugins.
  const std::vector<std::string>& inactive() const { return inactive_; }

 private:
  RuleSet() = default;
  void hang(const CompiledRule& rule, uint32_t index, const ir::OpTable& ops, Automaton& automaton);

  std::vector<RulePtr> rules_;
  std::vector<uint32_t> any_;  ///< rules without a declared root
  /// Roots that are not in the table, and the rules: ops of other tables (plugins, unknown ones) may have these names.
  std::vector<std::pair<std::string, uint32_t>> by_name_;
  std::shared_ptr<const Automaton> automaton_;
  std::vector<RulePtr> walked_;    ///< what the automaton points into
  std::vector<uint32_t> renamed_;  ///< by the automaton's number of a rule: its index here, or kNone; empty: all the same
  std::vector<std::string> inactive_;
};

}  // namespace tenon::rewrite
