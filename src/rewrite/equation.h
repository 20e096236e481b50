// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/attribute.h"
#include "ir/op.h"
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rewrite {

/// A rule written as an equation:
///
///   gelu: Mul(Mul(?x, Add(Erf(Div(?x, 1.4142135)), 1)), 0.5) => Gelu(?x) where float(?x)
///
///   equation  = [ name ":" ] terms "=>" terms [ "where" condition { "," condition } ]
///   terms     = term { "," term }                       several roots; as many results on the right
///   term      = "?" name [ "?" ]                        any value, the same at each mention; "?" behind: may be missing
///             | number                                  constant: scalar or splat, equal within the dtype's tolerance
///             | "[" ints "]"                            constant integers, element by element
///             | "_"                                     missing operand
///             | [domain "::"] Op "(" { operand } ")"    operands in any order where the op is commutative
///             | "(" term { "|" term } ")"               one of
///             | term "." digit                          another result of the op than its first
///   operand   = term | name "=" attribute
///   attribute = literal | "?" name | function "(" ... ")"   left: compared or captured; right: given or computed
///   condition = [ "not" ] predicate "(" ... ")" | quantity ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) quantity
///
/// Missing attributes compare as their default. Predicates, quantities and functions: see functions.h.
struct Term {
  enum class Kind : uint8_t { op, variable, number, ints, missing, either } kind = Kind::missing;
  bool optional = false;
  uint8_t result = 0;
  const ir::Op* op = nullptr;
  int variable = -1;
  double number = 0;
  ir::Ints ints;
  std::vector<int> operands;  ///< op: terms; either: the alternatives
  struct Given {
    std::string name;
    int expression;           ///< in Equation::expressions
    ir::Attribute otherwise;  ///< the op's default
    bool has_default = false;
  };
  std::vector<Given> attributes;
};

/// Attribute value or quantity: a literal, a captured name, or a function of such.
struct Expression {
  enum class Kind : uint8_t { literal, variable, call } kind = Kind::literal;
  ir::Attribute literal = int64_t{0};
  int variable = -1;
  std::string function;
  std::vector<int> arguments;
};

struct Condition {
  enum class Compare : uint8_t { holds, equal, differs, less, at_most, greater, at_least } compare = Compare::holds;
  bool negated = false;
  int left = -1, right = -1;  ///< expressions
  std::string text;           ///< for refusals
};

/// What the names of an equation stand for in one match. Attributes belong to the matched nodes, or are defaults of the equation.
struct Bindings {
  struct Slot {
    enum class Kind : uint8_t { free, value, attribute } kind = Kind::free;
    ValueId value;  ///< none: the optional operand is missing
    const ir::Attribute* attribute = nullptr;
  };
  ir::SmallList<Slot, 8> slots;
  ir::SmallList<ValueId, 2> roots;  ///< what the left roots stand for, in their order
};

/// The value of an expression under bindings; nullopt where a function has no answer.
std::optional<ir::Attribute> evaluate(const class Equation& equation, int expression, const Bindings& bindings, const Match& match);

class Equation {
 public:
  /// Errors: bad_rule with the column, a caret and what was expected; not_supported where an op is not in the table.
  static Result<Equation> parse(std::string_view text, const ir::OpTable& ops);

  const std::string& name() const { return name_; }
  /// Tries the equation with its first root at match.root(); keeps the Bindings in the match.
  bool match(Match& match) const;
  bool rewrite(const Match& match, Rewriter& rewriter) const;

  std::vector<Term> terms;
  std::vector<Expression> expressions;
  std::vector<Condition> conditions;
  std::vector<std::string> variables;
  std::vector<int> left, right;  ///< roots

 private:
  std::string name_;
};

}  // namespace tenon::rewrite
