// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "llm/template/syntax/token.h"
#include "llm/template/values/value.h"

/// The syntax tree of a template.
namespace tenon::llm::jinja {

/// A variable's name by its index in Syntax::names.
using NameIndex = uint32_t;

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
using Expressions = std::vector<ExpressionPtr>;

/// The arguments of a call, a filter or a test.
struct CallSyntax {
  Expressions positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr star, double_star;  ///< *list and **dict; may be null
};

enum class BinaryOperator : uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power, logical_and, logical_or };
enum class UnaryOperator : uint8_t { minus, plus, logical_not };
enum class ComparisonOperator : uint8_t { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };

struct ConstantExpression {
  Value value;
};
struct NameExpression {
  NameIndex name;
};
struct ListExpression {
  Expressions items;
  bool is_tuple = false;
};
struct DictExpression {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};
struct AttributeExpression {
  ExpressionPtr object;
  std::string name;
};
struct ItemExpression {
  ExpressionPtr object, index;
};
struct SliceExpression {  ///< object[start:stop:step]; each may be null
  ExpressionPtr object, start, stop, step;
};
struct CallExpression {
  ExpressionPtr callee;
  CallSyntax call;
};
struct FilterExpression {
  ExpressionPtr input;  ///< null: the text of a block
  std::string name;
  CallSyntax call;
};
struct TestExpression {
  ExpressionPtr input;
  std::string name;
  CallSyntax call;
};
struct UnaryExpression {
  UnaryOperator op;
  ExpressionPtr operand;
};
struct BinaryExpression {
  BinaryOperator op;
  ExpressionPtr left, right;
};
struct ComparisonExpression {  ///< a < b < c compares neighbours
  ExpressionPtr first;
  std::vector<std::pair<ComparisonOperator, ExpressionPtr>> others;
};
struct ConcatenationExpression {
  Expressions parts;
};
struct ConditionalExpression {
  ExpressionPtr condition, yes, no;  ///< yes if condition else no; no: may be null
};

struct Expression {
  Position at;
  int height = 1;  ///< levels of expressions, itself included
  std::variant<ConstantExpression, NameExpression, ListExpression, DictExpression, AttributeExpression, ItemExpression, SliceExpression,
               CallExpression, FilterExpression, TestExpression, UnaryExpression, BinaryExpression, ComparisonExpression,
               ConcatenationExpression, ConditionalExpression>
      kind;
};

/// The target of an assignment: a name, an attribute of a namespace, or several in a tuple.
struct Target {
  Position at;
  NameIndex name = 0;
  std::string attribute;        ///< "": the name itself
  std::vector<Target> targets;  ///< of a tuple
  bool is_tuple = false;
};

struct Statement;
using Block = std::vector<Statement>;

struct Parameter {
  NameIndex name;
  ExpressionPtr standard;  ///< default value; null: the argument must be passed
};
struct MacroSyntax {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<std::string> names;  ///< of the parameters
  Block body;
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
};

struct DataStatement {
  std::string text;
};
struct PrintStatement {
  ExpressionPtr value;
};
struct IfStatement {
  std::vector<std::pair<ExpressionPtr, Block>> branches;
  Block otherwise;
};
struct ForStatement {
  Target target;
  ExpressionPtr items, condition;  ///< condition: may be null
  Block body, otherwise;           ///< otherwise: runs where there are no items
};
struct SetStatement {
  Target target;
  ExpressionPtr value;
};
struct SetBlockStatement {
  Target target;
  ExpressionPtr filter;  ///< of the block's text; may be null
  Block body;
};
struct MacroStatement {
  NameIndex name;
  std::shared_ptr<const MacroSyntax> macro;
};
struct CallStatement {  ///< {% call(...) macro(...) %}
  ExpressionPtr call;
  std::shared_ptr<const MacroSyntax> caller;
};
struct FilterStatement {
  ExpressionPtr filter;
  Block body;
};
struct WithStatement {  ///< also {% generation %}, which has no variables
  std::vector<std::pair<Target, ExpressionPtr>> variables;
  Block body;
};
struct BreakStatement {};
struct ContinueStatement {};

struct Statement {
  Position at;
  std::variant<DataStatement, PrintStatement, IfStatement, ForStatement, SetStatement, SetBlockStatement, MacroStatement, CallStatement,
               FilterStatement, WithStatement, BreakStatement, ContinueStatement>
      kind;
};

/// A parsed template.
struct Syntax {
  std::vector<std::string> names;
  Block body;
};

/// Errors: bad_file, not_supported (statements, filters and tests by name), limit_exceeded, each at LINE:COLUMN.
Result<Syntax> parse(std::string_view source);

}  // namespace tenon::llm::jinja
