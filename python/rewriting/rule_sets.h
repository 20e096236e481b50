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

/// A rule, and whether it calls Python.
struct PyRule {
  rewrite::RulePtr rule;
  bool calls_python = false;
};

/// The numerics class of that name. Raises bad_usage, with `place`.
rewrite::Numerics numerics_named(const std::string& name, const char* place);

/// Rules with one automaton over them, made once for any number of graphs and threads.
class PyRuleSet {
 public:
  explicit PyRuleSet(std::vector<PyRule> rules);
  /// The rules of this set that are in `wanted`, with the automaton shared.
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

/// The rules of an iterable. Raises bad_usage for other items.
std::vector<PyRule> rules_of(nb::handle iterable);

/// The argument `rules` of a call: a RuleSet, or an iterable of rules, of which a temporary set is made.
class RuleSetArgument {
 public:
  explicit RuleSetArgument(nb::object rules);
  const PyRuleSet& operator*() const { return *set_; }
  const PyRuleSet* operator->() const { return set_; }

 private:
  nb::object given_;
  std::optional<PyRuleSet> made_;
  const PyRuleSet* set_;
};

void bind_rule_sets(nb::module_& m);

}  // namespace tenon::python
