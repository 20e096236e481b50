// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "handles.h"
#include "rewrite/driver/rule_set.h"

namespace tenon::python {

/// A rule, and what Python stores about it.
struct PyRule {
  rewrite::RulePtr rule;
  bool calls_python = false;
};

/// The class of that name. Raises bad_usage at `place`.
rewrite::Numerics numerics_named(const std::string& name, const char* place);

/// Rules with one automaton over them, made once for any number of graphs and threads.
class PyRuleSet {
 public:
  explicit PyRuleSet(std::vector<PyRule> rules);
  /// Those of its rules that are among `wanted`, shared.
  PyRuleSet only(const std::vector<PyRule>& wanted) const;
  const std::vector<PyRule>& rules() const { return rules_; }  ///< as given
  const rewrite::RuleSet& get() const { return set_; }
  /// The first rule that calls Python; null: none does.
  const PyRule* first_in_python() const;

 private:
  PyRuleSet(std::vector<PyRule> rules, rewrite::RuleSet set) : rules_(std::move(rules)), set_(std::move(set)) {}

  std::vector<PyRule> rules_;
  rewrite::RuleSet set_;
};

/// Rules out of anything that iterates over them. Raises bad_usage where something else is among them.
std::vector<PyRule> rules_of(nb::handle iterable);

/// The RuleSet that a caller gave, or one made of the rules given, for as long as this lives.
class GivenRules {
 public:
  explicit GivenRules(nb::object rules);
  const PyRuleSet& operator*() const { return *set_; }
  const PyRuleSet* operator->() const { return set_; }

 private:
  nb::object given_;
  std::optional<PyRuleSet> made_;
  const PyRuleSet* set_;
};

void bind_rule_sets(nb::module_& m);

}  // namespace tenon::python
