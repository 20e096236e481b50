// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/attribute.h"
#include "ir/op.h"
#include "rewrite/equation/term_value.h"
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rewrite {

struct Function;
struct CustomFunction;

/// A node of the syntax tree of an equation's two sides. docs/rules-language.md has the grammar, with an example of everything:
///
///   gelu: Mul(Mul(?x, Add(Erf(Div(?x, 1.4142135)), 1)), 0.5) => Gelu(?x) where float(?x)
///
/// Left of `=>` a term is a pattern that a value of the graph must match, right of it a value that is built.
struct Term {
  enum class Kind : uint8_t {
    op,                 ///< Op(operands, attributes); another result than its first: Op(...).1
    variable,           ///< ?x: any value, the same at each mention; ?x?: may be missing
    variadic,           ///< ?xs...: any number of operands, in their order
    number,             ///< 0.5: a scalar or splat constant, equal within the tolerance
    ints,               ///< [0, 2, 1]: constant integers, element by element
    missing,            ///< _: the operand is missing
    alternatives,       ///< (A | B): a value that matches one of the operands; only on the left
    computed_constant,  ///< const(...): only on the right
    tensor,             ///< a constant of this shape, floats within the dtype's tolerance; only from pattern graphs, without a text form
  } kind = Kind::missing;
  bool optional = false;          ///< variable: the operand may be missing
  bool exact_attributes = false;  ///< op: the node has no attributes but those of the term; an op without a schema has no defaults
  uint8_t result = 0;             ///< op: which of the node's results
  uint16_t results = 0;           ///< op: the least number of results of the node that is built
  const ir::Op* op = nullptr;
  int variable = -1;  ///< variable, variadic: in Equation::variables
  double number = 0;
  double tolerance = -1;  ///< number: absolute tolerance; negative: the default of the dtype
  ir::Ints ints;
  Tensor tensor;
  int expression = -1;        ///< computed_constant: its value, in Equation::expressions
  int dtype = -1;             ///< computed_constant: its element type, in Equation::expressions; -1: that of a neighbouring operand
  std::vector<int> operands;  ///< op: the operands, alternatives: the choices; in Equation::terms
  /// name=expression among the operands of an op.
  struct AttributePattern {
    std::string name;
    int expression;               ///< in Equation::expressions: on the left what the attribute must equal, or the name it is bound to
    ir::Attribute default_value;  ///< compared in place of an attribute that the node lacks
    bool has_default = false;
    bool floating = false;  ///< the attribute holds floats: whole numbers are built as such
  };
  std::vector<AttributePattern> attributes;
};

/// A node of the syntax tree of conditions, of attributes and of computed constants.
struct Expression {
  enum class Kind : uint8_t {
    literal,
    variable,  ///< ?x
    list,      ///< [a, b]
    wildcard,  ///< `_` in a list: any element
    ellipsis,  ///< `...` in a list: any number of elements
    call,      ///< f(a, b), and arithmetic
    compare,
    negation,     ///< not a
    conjunction,  ///< a and b
    disjunction,  ///< a or b
  } kind = Kind::literal;
  enum class Compare : uint8_t { equal, differs, less, at_most, greater, at_least } compare = Compare::equal;
  TermValue literal = int64_t{0};
  int variable = -1;                                      ///< in Equation::variables
  const Function* function = nullptr;                     ///< call: one of functions.h, or null
  std::shared_ptr<const CustomFunction> custom_function;  ///< call: where `function` is null
  std::vector<int> arguments;                             ///< in Equation::expressions
};

/// One condition after `where`.
struct Condition {
  int expression = -1;  ///< in Equation::expressions
  /// The condition is `==`, and its right side is a name that is not bound yet, or a list with such names: they get the left side's value.
  bool binds = false;
  std::string text;  ///< source text: the reason for a refusal where the condition does not hold
};

/// A name of an equation: ?x. value: bound to a graph value; variadic: to operands (?xs...); attribute: to an attribute of a matched node;
/// term_value: by a condition.
struct Variable {
  enum class Kind : uint8_t { value, variadic, attribute, term_value } kind = Kind::value;
  std::string name;
};

/// The values of the variables of an equation in one match.
struct Bindings {
  /// The binding of one variable. free: not bound. The other kinds are those of Variable.
  struct Slot {
    enum class Kind : uint8_t { free, value, variadic, attribute, term_value } kind = Kind::free;
    ValueId value;                             ///< value: none where the optional operand is missing
    const ir::Attribute* attribute = nullptr;  ///< attribute: of a matched node, or a default of the equation
  };
  ir::SmallList<Slot, 8> slots;             ///< by variable
  ir::SmallList<ValueId, 2> roots;          ///< the graph values that the left roots match, in the roots' order
  std::vector<Values> variadic_values;      ///< by variable; empty where the equation has no variadic one
  std::vector<TermValue> condition_values;  ///< by variable; empty where no condition has bound one
};

/// A predicate of a `.rules` file: `predicate small(?x) = rank(?x) <= 2`. Calls of it are inlined.
struct Predicate {
  size_t parameters = 0;                ///< their number: variables 0, 1, ... of the expressions
  std::vector<Expression> expressions;  ///< the last one is the condition
};
/// Functions and predicates that an equation may call in addition to those of functions.h, by name.
struct UserFunctions {
  std::map<std::string, std::shared_ptr<const CustomFunction>, std::less<>> functions;
  std::map<std::string, Predicate, std::less<>> predicates;
};

/// A rule as a pair of patterns with conditions, parsed from its text or made from two graphs (pattern_graph.h).
class Equation {
 public:
  /// Errors: bad_rule with the column, a caret, what was expected and what is there; not_supported where an op is not in the table;
  /// limit_exceeded over 1,024 terms, 1,024 parts of conditions or 64 levels.
  static Result<Equation> parse(std::string_view text, const ir::OpTable& ops, const UserFunctions& user_functions = {});

  const std::string& name() const { return name_; }
  /// Matches the left side with its first root at match.root(), and the conditions; the match's state is then the Bindings.
  bool match(Match& match) const;
  /// Builds the right side of a match and replaces the roots' results by it.
  bool rewrite(const Match& match, Rewriter& rewriter) const;
  /// A term as text, for messages; what is nested deeper than two levels is left out.
  std::string text(int term) const;

  std::vector<Term> terms;  ///< the nodes of the syntax trees of both sides: ops, names, constants, alternatives
  std::vector<Expression> expressions;
  std::vector<Condition> conditions;
  std::vector<Variable> variables;
  std::vector<int> left, right;  ///< the roots of both sides, in `terms`

 private:
  friend class EquationParser;
  std::string name_;
};

/// The value of an expression under bindings.
Answer evaluate(const Equation& equation, int expression, const Bindings& bindings, const Match& match);
/// Whether `found` matches the pattern (a literal, a name, a list with `_`, `...` and names); names that are not bound yet are bound.
/// nullopt: it depends on symbols, or the two cannot be compared.
std::optional<bool> unify(const Equation& equation, int pattern, const TermValue& found, Bindings& bindings, const Match& match);

}  // namespace tenon::rewrite
