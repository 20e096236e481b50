// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "llm/template/syntax/parser.h"

namespace tenon::llm::jinja {
namespace {

/// The largest height of the expressions in a node.
class Height {
 public:
  int value = 0;

  void operator()(const ConstantExpression&) {}
  void operator()(const NameExpression&) {}
  void operator()(const ListExpression& e) { add(e.items); }
  void operator()(const DictExpression& e) {
    for (const auto& [key, item] : e.entries) add(key), add(item);
  }
  void operator()(const AttributeExpression& e) { add(e.object); }
  void operator()(const ItemExpression& e) { add(e.object), add(e.index); }
  void operator()(const SliceExpression& e) { add(e.object), add(e.start), add(e.stop), add(e.step); }
  void operator()(const CallExpression& e) { add(e.callee), add(e.call); }
  void operator()(const FilterExpression& e) { add(e.input), add(e.call); }
  void operator()(const TestExpression& e) { add(e.input), add(e.call); }
  void operator()(const UnaryExpression& e) { add(e.operand); }
  void operator()(const BinaryExpression& e) { add(e.left), add(e.right); }
  void operator()(const ComparisonExpression& e) {
    add(e.first);
    for (const auto& [op, other] : e.others) add(other);
  }
  void operator()(const ConcatenationExpression& e) { add(e.parts); }
  void operator()(const ConditionalExpression& e) { add(e.condition), add(e.yes), add(e.no); }

 private:
  void add(const ExpressionPtr& e) { value = std::max(value, e ? e->height : 0); }
  void add(const Expressions& all) {
    for (const auto& e : all) add(e);
  }
  void add(const CallSyntax& call) {
    add(call.positional);
    for (const auto& [name, e] : call.named) add(e);
    add(call.star), add(call.double_star);
  }
};

/// The operator that a symbol is; nullptr for others.
template <class Table>
auto operator_of(const Table& table, const Token& token) -> decltype(&table[0].second) {
  const auto at = std::ranges::find_if(table, [&](const auto& row) { return token.is_symbol(row.first); });
  return at == table.end() ? nullptr : &at->second;
}

using Row = std::pair<std::string_view, BinaryOperator>;
constexpr std::array<Row, 2> kSums = {Row{"+", BinaryOperator::add}, Row{"-", BinaryOperator::subtract}};
constexpr std::array<Row, 4> kProducts = {Row{"*", BinaryOperator::multiply}, Row{"/", BinaryOperator::divide},
                                          Row{"//", BinaryOperator::floor_divide}, Row{"%", BinaryOperator::modulo}};
using ComparisonRow = std::pair<std::string_view, ComparisonOperator>;
constexpr std::array<ComparisonRow, 6> kComparisons = {
    ComparisonRow{"==", ComparisonOperator::equal},  ComparisonRow{"!=", ComparisonOperator::not_equal},
    ComparisonRow{"<", ComparisonOperator::less},    ComparisonRow{"<=", ComparisonOperator::less_equal},
    ComparisonRow{">", ComparisonOperator::greater}, ComparisonRow{">=", ComparisonOperator::greater_equal}};

}  // namespace

Result<ExpressionPtr> Parser::make(Position at, decltype(Expression::kind) kind) {
  Height height;
  std::visit(height, kind);
  if (height.value >= kHighest)
    return fail(Code::limit_exceeded, std::to_string(at.line) + ":" + std::to_string(at.column), "an expression is nested too deeply")
        .expected("at most " + std::to_string(kHighest) + " levels")
        .found("more");
  return std::make_unique<Expression>(Expression{at, height.value + 1, std::move(kind)});
}

Result<ExpressionPtr> Parser::conditional() {
  if (++expression_depth_ > kHighest)
    return fail(Code::limit_exceeded, std::to_string(current().at.line) + ":" + std::to_string(current().at.column),
                "an expression is nested too deeply")
        .expected("at most " + std::to_string(kHighest) + " levels")
        .found("more");
  ++expressions_;
  const bool had_unknown = unknown_.has_value();
  ExpressionPtr value = TRY(disjunction());
  const bool is_conditional = current().is_name("if");
  while (current().is_name("if")) {
    const Position at = current().at;
    skip();
    ConditionalExpression out{.condition = TRY(disjunction()), .yes = std::move(value), .no = nullptr};
    if (skip_name("else")) out.no = TRY(conditional());
    value = TRY(make(at, std::move(out)));
  }
  --expressions_;
  --expression_depth_;
  if (is_conditional && !had_unknown) unknown_.reset();
  if (expressions_ > 0 || !unknown_) return value;
  return std::unexpected(*std::exchange(unknown_, std::nullopt));
}

Result<ExpressionPtr> Parser::disjunction() {
  ExpressionPtr left = TRY(conjunction());
  while (current().is_name("or")) {
    const Position at = current().at;
    skip();
    left = TRY(make(at, BinaryExpression{BinaryOperator::logical_or, std::move(left), TRY(conjunction())}));
  }
  return left;
}

Result<ExpressionPtr> Parser::conjunction() {
  ExpressionPtr left = TRY(negation());
  while (current().is_name("and")) {
    const Position at = current().at;
    skip();
    left = TRY(make(at, BinaryExpression{BinaryOperator::logical_and, std::move(left), TRY(negation())}));
  }
  return left;
}

Result<ExpressionPtr> Parser::negation() {
  std::vector<Position> negations;
  for (; current().is_name("not"); skip()) negations.push_back(current().at);
  ExpressionPtr out = TRY(comparison());
  for (; !negations.empty(); negations.pop_back())
    out = TRY(make(negations.back(), UnaryExpression{UnaryOperator::logical_not, std::move(out)}));
  return out;
}

Result<ExpressionPtr> Parser::comparison() {
  const Position at = current().at;
  ComparisonExpression out{.first = TRY(sum()), .others = {}};
  for (;;) {
    if (const ComparisonOperator* op = operator_of(kComparisons, current())) {
      skip();
      out.others.emplace_back(*op, TRY(sum()));
    } else if (skip_name("in")) {
      out.others.emplace_back(ComparisonOperator::in, TRY(sum()));
    } else if (current().is_name("not") && next_token().is_name("in")) {
      skip();
      skip();
      out.others.emplace_back(ComparisonOperator::not_in, TRY(sum()));
    } else {
      break;
    }
  }
  if (out.others.empty()) return std::move(out.first);
  return make(at, std::move(out));
}

Result<ExpressionPtr> Parser::sum() {
  ExpressionPtr left = TRY(concatenation());
  while (const BinaryOperator* op = operator_of(kSums, current())) {
    const Position at = current().at;
    skip();
    left = TRY(make(at, BinaryExpression{*op, std::move(left), TRY(concatenation())}));
  }
  return left;
}

Result<ExpressionPtr> Parser::concatenation() {
  const Position at = current().at;
  ConcatenationExpression out;
  do { out.parts.push_back(TRY(product())); } while (skip_symbol("~"));
  if (out.parts.size() == 1) return std::move(out.parts[0]);
  return make(at, std::move(out));
}

Result<ExpressionPtr> Parser::product() {
  ExpressionPtr left = TRY(power());
  while (const BinaryOperator* op = operator_of(kProducts, current())) {
    const Position at = current().at;
    skip();
    left = TRY(make(at, BinaryExpression{*op, std::move(left), TRY(power())}));
  }
  return left;
}

Result<ExpressionPtr> Parser::power() {
  ExpressionPtr left = TRY(unary(true));
  while (current().is_symbol("**")) {
    const Position at = current().at;
    skip();
    left = TRY(make(at, BinaryExpression{BinaryOperator::power, std::move(left), TRY(unary(true))}));
  }
  return left;
}

Result<ExpressionPtr> Parser::unary(bool with_filters) {
  std::vector<std::pair<Position, UnaryOperator>> signs;
  for (; current().is_symbol("-") || current().is_symbol("+"); skip())
    signs.emplace_back(current().at, current().is_symbol("-") ? UnaryOperator::minus : UnaryOperator::plus);
  ExpressionPtr out = TRY(postfix(TRY(primary())));
  for (; !signs.empty(); signs.pop_back()) out = TRY(make(signs.back().first, UnaryExpression{signs.back().second, std::move(out)}));
  return with_filters ? filters_and_tests(std::move(out)) : Result<ExpressionPtr>(std::move(out));
}

}  // namespace tenon::llm::jinja
