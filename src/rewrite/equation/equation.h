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
struct NamedFunction;

/// A rule written as an equation; docs/rules-language.md is its grammar, with an example of everything:
///
///   gelu: Mul(Mul(?x, Add(Erf(Div(?x, 1.4142135)), 1)), 0.5) => Gelu(?x) where float(?x)
///
/// Left of `=>` a term is a pattern, right of it what is built.
struct Term {
  enum class Kind : uint8_t {
    op,        ///< Op(operands, attributes); another result than its first: Op(...).1
    variable,  ///< ?x: any value, the same at each mention; ?x?: may be missing
    rest,      ///< ?xs...: any number of operands, in their order
    number,    ///< 0.5: a scalar or splat constant, equal within the tolerance
    ints,      ///< [0, 2, 1]: constant integers, element by element
    missing,   ///< _: no operand
    either,    ///< (A | B)
    computed,  ///< const(...): only on the right
    tensor,    ///< a constant of this shape, floats within the dtype's tolerance; only from pattern graphs, no text says it
  } kind = Kind::missing;
  bool optional = false;
  bool exact_attributes = false;  ///< op: the node has no attributes but those of the term; an op without a schema has no defaults
  uint8_t result = 0;
  uint16_t results = 0;  ///< op: what is built has at least as many
  const ir::Op* op = nullptr;
  int variable = -1;
  double number = 0;
  double tolerance = -1;  ///< absolute; negative: that of the dtype
  ir::Ints ints;
  Tensor tensor;
  int expression = -1;        ///< computed: the value ...
  int dtype = -1;             ///< ... and its element type, where one is given
  std::vector<int> operands;  ///< op: terms; either: the alternatives
  struct AttributePattern {
    std::string name;
    int expression;           ///< in Equation::expressions
    ir::Attribute otherwise;  ///< what counts where the node lacks it
    bool has_default = false;
    bool floating = false;  ///< numbers are stored as floats
  };
  std::vector<AttributePattern> attributes;
};

struct Expression {
  enum class Kind : uint8_t { literal, variable, list, any, rest, call, compare, negation, all, some } kind = Kind::literal;
  enum class Compare : uint8_t { equal, differs, less, at_most, greater, at_least } compare = Compare::equal;
  TermValue literal = int64_t{0};
  int variable = -1;
  const Function* function = nullptr;
  std::shared_ptr<const NamedFunction> named;  ///< instead of `function`
  std::vector<int> arguments;
};

/// One condition after `where`.
struct Condition {
  int expression = -1;
  /// `==` whose right side is a name that nothing has bound before, or a list with such names: the left side binds them.
  bool binds = false;
  std::string text;  ///< for refusals
};

/// A name of an equation.
struct Variable {
  enum class Kind : uint8_t { value, rest, attribute, term_value } kind = Kind::value;
  std::string name;
};

/// The values bound to the names of an equation in one match. Attributes belong to the matched nodes, or are defaults of the equation.
struct Bindings {
  struct Slot {
    enum class Kind : uint8_t { free, value, rest, attribute, term_value } kind = Kind::free;
    ValueId value;  ///< none: the optional operand is missing
    const ir::Attribute* attribute = nullptr;
  };
  ir::SmallList<Slot, 8> slots;
  ir::SmallList<ValueId, 2> roots;  ///< the values of the left roots, in their order
  std::vector<Values> rests;        ///< a variable; empty where the equation has no rest
  std::vector<TermValue> data;      ///< a variable; empty where no condition binds
};

/// A predicate of a `.rules` file: `predicate small(?x) = rank(?x) <= 2`. Its variables 0.. are the parameters.
struct Definition {
  size_t parameters = 0;
  std::vector<Expression> expressions;  ///< the last one is the answer
};
/// What an equation may call in addition to the functions of functions.h.
struct Names {
  std::map<std::string, std::shared_ptr<const NamedFunction>, std::less<>> functions;
  std::map<std::string, Definition, std::less<>> definitions;
};

class Equation {
 public:
  /// Errors: bad_rule with the column, a caret, what was expected and what is there; not_supported where an op is not in the table;
  /// limit_exceeded over 1,024 terms, 1,024 parts of conditions or 64 levels.
  static Result<Equation> parse(std::string_view text, const ir::OpTable& ops, const Names& names = {});

  const std::string& name() const { return name_; }
  /// Tries the equation with its first root at match.root(); keeps the Bindings in the match.
  bool match(Match& match) const;
  bool rewrite(const Match& match, Rewriter& rewriter) const;
  /// A term as it is written, for messages; deep ones are cut.
  std::string text(int term) const;

  std::vector<Term> terms;
  std::vector<Expression> expressions;
  std::vector<Condition> conditions;
  std::vector<Variable> variables;
  std::vector<int> left, right;  ///< roots

 private:
  friend class EquationParser;
  std::string name_;
};

/// The value of an expression under bindings.
Answer evaluate(const Equation& equation, int expression, const Bindings& bindings, const Match& match);
/// Whether `found` is what the pattern (a literal, a name, a list with `_`, `...` and names) says; fresh names are bound where
/// `bindings` may change.
std::optional<bool> unify(const Equation& equation, int pattern, const TermValue& found, Bindings& bindings, const Match& match);

}  // namespace tenon::rewrite
