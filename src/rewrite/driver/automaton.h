// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rewrite/equation/equation.h"
#include "rewrite/match.h"

namespace tenon::rewrite {

/// The left sides of all rules as one decision tree, after the predicate tree of MLIR's PDL. A place is a path of operand slots from the
/// root; a test checks one property of the value at one place (its producer's op, its number, ...); patterns that begin with equal tests
/// share them, and the outcome of a test is looked up in a table, so that the cost at a node grows with the number of different tests that
/// the node passes and not with the number of patterns. It is a filter: it finds candidates, and Equation::match decides.
class Automaton {
 public:
  Automaton();
  /// A rule that may match at every node of the op.
  void add(const ir::Op* op, uint32_t rule);
  /// A rule that may match where the first root of the equation does. The equation must outlive the automaton.
  void add(const Equation& equation, uint32_t rule);
  /// To be called once after the last `add`.
  void finish();
  /// Appends the rules that may match at the node, each once or more often, in any order.
  void candidates(const Graph& graph, NodeId node, std::vector<uint32_t>& out) const;
  /// The number of states.
  size_t size() const { return states_.size(); }

 private:
  enum class TestKind : uint8_t { op, number, ints, missing, number_attribute, attribute };
  /// Pointers go into the equations, so that copies are cheap: building the tree makes thousands.
  struct Test {
    TestKind kind = TestKind::op;
    uint32_t place = 0;
    const Term::AttributePattern* attribute = nullptr;  ///< attribute tests: name and default of the attribute
    const ir::Op* op = nullptr;                         ///< op: the expected op
    double number = 0;
    const ir::Ints* ints = nullptr;
    size_t hash = 0;  ///< attribute: of the expected value
    bool same_test(const Test& other) const;
  };
  using Path = std::vector<Test>;
  /// One test, and the state that follows for each outcome.
  struct Decision {
    Test test;
    std::vector<std::pair<const ir::Op*, uint32_t>> by_op;  ///< sorted
    std::vector<std::pair<double, uint32_t>> by_number;     ///< sorted
    std::map<ir::Ints, uint32_t> by_ints;
    std::vector<std::pair<size_t, uint32_t>> by_hash;
    uint32_t missing = 0;  ///< the state where the operand is missing
  };
  /// A state: the rules that may match when it is reached, and the tests that follow.
  struct State {
    std::vector<uint32_t> rules;
    std::vector<Decision> decisions;
  };
  /// A path of operand slots from the root: operand `slot` of the place `parent`.
  struct Place {
    uint32_t parent = 0;
    uint32_t slot = 0;
  };
  struct Walk;

  uint32_t place_of(uint32_t parent, uint32_t slot);
  std::vector<Path> paths(const Equation& equation, int term, uint32_t place, int depth);
  std::vector<Path> op_paths(const Equation& equation, const Term& term, uint32_t place, int depth);
  std::vector<Path> operand_paths(const Equation& equation, const Term& term, uint32_t place, int depth, bool swapped);
  static Path own_tests(const Equation& equation, const Term& term, uint32_t place);
  void insert(const Path& path, uint32_t rule);
  uint32_t& next_state(Decision& decision, const Test& test);
  uint32_t follow(uint32_t state, const Test& test);

  std::vector<State> states_;
  std::vector<Place> places_;
};

}  // namespace tenon::rewrite
