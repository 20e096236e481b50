// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "ops/op.h"
#include "ops/schema.h"
#include "rewrite/functions.h"

namespace tenon::rewrite {
namespace {

/// Recursive descent over one equation; every function leaves `at_` behind what it read.
class Parser {
 public:
  Parser(std::string_view text, const ir::OpTable& ops, Equation& out, std::string& name)
      : text_(text), ops_(ops), out_(out), name_(name) {}

  Result<void> equation() {
    TRY(read_name());
    TRY(roots(out_.left));
    if (!eat("=>")) return error("'=>'");
    right_ = true;
    TRY(roots(out_.right));
    if (out_.left.size() != out_.right.size()) return error(fmt::format("{} results on the right", out_.left.size()));
    if (word() == "where") {
      identifier();
      do TRY(condition());
      while (eat(","));
    }
    skip();
    if (at_ != text_.size()) return error("the end");
    return {};
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool eat(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  /// The identifier that stands here, not consumed.
  std::string_view word() {
    skip();
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  std::string identifier() {
    std::string w(word());
    at_ += w.size();
    return w;
  }
  Error error(std::string expected) {
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 12)) : "the end";
    return fail(Code::bad_rule, fmt::format("column {}", at_ + 1), fmt::format("equation\n  {}\n  {:>{}}", text_, "^", at_ + 1))
        .expected(std::move(expected))
        .found(found);
  }

  Result<void> read_name() {
    const size_t start = at_;
    std::string w = identifier();
    skip();
    if (!w.empty() && text_.substr(at_).starts_with(":") && !text_.substr(at_).starts_with("::")) {
      ++at_;
      name_ = std::move(w);
    } else {
      at_ = start;
    }
    return {};
  }

  Result<void> roots(std::vector<int>& into) {
    do into.push_back(TRY(term()));
    while (eat(","));
    return {};
  }

  int add(Term t) {
    out_.terms.push_back(std::move(t));
    return static_cast<int>(out_.terms.size()) - 1;
  }
  int add(Expression e) {
    out_.expressions.push_back(std::move(e));
    return static_cast<int>(out_.expressions.size()) - 1;
  }

  Result<int> variable() {
    const std::string name = identifier();
    if (name.empty()) return error("a name after '?'");
    for (size_t i = 0; i < out_.variables.size(); ++i)
      if (out_.variables[i] == name) return static_cast<int>(i);
    if (right_) return error("a name that the left side binds");
    out_.variables.push_back(name);
    return static_cast<int>(out_.variables.size()) - 1;
  }

  Result<double> number() {
    skip();
    double value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc()) return error("a number");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  bool number_ahead() {
    const char c = peek();
    return std::isdigit(static_cast<unsigned char>(c)) || (c == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != '>');
  }

  Result<ir::Ints> int_list() {
    ir::Ints list;
    if (eat("]")) return list;
    do list.push_back(static_cast<int64_t>(TRY(number())));
    while (eat(","));
    if (!eat("]")) return error("']'");
    return list;
  }

  Result<int> term() {
    if (++depth_ > 64) return error("at most 64 levels");
    int t = TRY(plain_term());
    --depth_;
    if (eat(".")) {
      const char digit = peek();
      if (!std::isdigit(static_cast<unsigned char>(digit))) return error("a result number");
      out_.terms[t].result = static_cast<uint8_t>(digit - '0');
      ++at_;
    }
    return t;
  }

  Result<int> plain_term() {
    Term t;
    if (eat("?")) {
      t.kind = Term::Kind::variable;
      t.variable = TRY(variable());
      t.optional = at_ < text_.size() && text_[at_] == '?' && eat("?");
      return add(std::move(t));
    }
    if (number_ahead()) {
      t.kind = Term::Kind::number;
      t.number = TRY(number());
      return add(std::move(t));
    }
    if (eat("[")) {
      t.kind = Term::Kind::ints;
      t.ints = TRY(int_list());
      return add(std::move(t));
    }
    if (eat("(")) return either();
    if (word() == "_") {
      identifier();
      return add(std::move(t));
    }
    return op_term();
  }

  Result<int> either() {
    Term t;
    t.kind = Term::Kind::either;
    do t.operands.push_back(TRY(term()));
    while (eat("|"));
    if (!eat(")")) return error("'|' or ')'");
    return t.operands.size() == 1 ? t.operands[0] : add(std::move(t));
  }

  Result<std::pair<std::string, std::string>> op_name() {
    std::string domain, name = identifier();
    while (!name.empty() &&
           (eat("::") || (peek() == '.' && at_ + 1 < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_ + 1]))))) {
      const bool dot = text_[at_] == '.';
      if (dot) ++at_;
      domain += (domain.empty() ? "" : ".") + name;
      name = identifier();
    }
    if (name.empty()) return error("a term");
    return std::pair(domain, name);
  }

  Result<int> op_term() {
    Term t;
    t.kind = Term::Kind::op;
    auto [domain, name] = TRY(op_name());
    t.op = ops_.find(domain, name);
    if (!t.op) return fail(Code::not_supported, "", fmt::format("not supported yet: op {}{}{}", domain, domain.empty() ? "" : "::", name));
    if (!eat("(")) return error("'('");
    if (!eat(")")) {
      do TRY(operand(t));
      while (eat(","));
      if (!eat(")")) return error("',' or ')'");
    }
    return add(std::move(t));
  }

  Result<void> operand(Term& t) {
    const size_t start = at_;
    std::string name = identifier();
    if (!name.empty() && peek() == '=' && text_.substr(at_, 2) != "=>") {
      ++at_;
      return attribute(t, std::move(name));
    }
    at_ = start;
    t.operands.push_back(TRY(term()));
    return {};
  }

  Result<void> attribute(Term& t, std::string name) {
    Term::Given given{std::move(name), TRY(expression()), int64_t{0}, false};
    default_of(*t.op, given);
    t.attributes.push_back(std::move(given));
    return {};
  }

  /// The default in the op's schema.
  static void default_of(const ir::Op& op, Term::Given& given) {
    using Kind = ops::AttributeSpec::Kind;
    for (const ops::AttributeSpec& spec : ops::attribute_specs(ops::def_of(op))) {
      if (spec.name != given.name || spec.otherwise.empty()) continue;
      given.has_default = true;
      double number = 0;
      std::from_chars(spec.otherwise.data(), spec.otherwise.data() + spec.otherwise.size(), number);
      if (spec.kind == Kind::text) given.otherwise = std::string(spec.otherwise);
      else if (spec.kind == Kind::number) given.otherwise = static_cast<float>(number);
      else if (spec.kind == Kind::integer) given.otherwise = static_cast<int64_t>(number);
      else given.has_default = false;
    }
  }

  Result<int> expression() {
    Expression e;
    if (eat("?")) {
      e.kind = Expression::Kind::variable;
      e.variable = TRY(variable());
    } else if (eat("\"")) {
      const size_t end = text_.find('"', at_);
      if (end == text_.npos) return error("'\"'");
      e.literal = std::string(text_.substr(at_, end - at_));
      at_ = end + 1;
    } else if (eat("[")) {
      e.literal = TRY(int_list());
    } else if (number_ahead()) {
      const size_t start = at_;
      const double value = TRY(number());
      const bool whole = text_.substr(start, at_ - start).find_first_of(".eE") == std::string_view::npos;
      e.literal = whole ? ir::Attribute(static_cast<int64_t>(value)) : ir::Attribute(static_cast<float>(value));
    } else {
      return call_expression();
    }
    return add(std::move(e));
  }

  Result<int> call_expression() {
    Expression e;
    e.kind = Expression::Kind::call;
    const size_t start = at_;
    e.function = identifier();
    if (!function_exists(e.function)) {
      at_ = start;
      return error("a literal, '?name' or a function");
    }
    if (!eat("(")) return error("'('");
    if (!eat(")")) {
      do e.arguments.push_back(TRY(expression()));
      while (eat(","));
      if (!eat(")")) return error("',' or ')'");
    }
    return add(std::move(e));
  }

  Result<void> condition() {
    skip();
    const size_t start = at_;
    Condition c;
    if (word() == "not") {
      identifier();
      c.negated = true;
    }
    right_ = true;  // conditions bind nothing
    c.left = TRY(expression());
    using Compare = Condition::Compare;
    static constexpr std::pair<std::string_view, Compare> kCompare[] = {{"==", Compare::equal},   {"!=", Compare::differs},
                                                                        {"<=", Compare::at_most}, {">=", Compare::at_least},
                                                                        {"<", Compare::less},     {">", Compare::greater}};
    for (const auto& [token, compare] : kCompare) {
      if (!eat(token)) continue;
      c.compare = compare;
      c.right = TRY(expression());
      break;
    }
    c.text = std::string(text_.substr(start, at_ - start));
    out_.conditions.push_back(std::move(c));
    return {};
  }

  std::string_view text_;
  const ir::OpTable& ops_;
  Equation& out_;
  std::string& name_;
  size_t at_ = 0;
  int depth_ = 0;
  bool right_ = false;
};

}  // namespace

Result<Equation> Equation::parse(std::string_view text, const ir::OpTable& ops) {
  Equation e;
  TRY(Parser(text, ops, e, e.name_).equation());
  for (int root : e.left)
    if (e.terms[root].kind != Term::Kind::op && e.terms[root].kind != Term::Kind::either)
      return fail(Code::bad_rule, e.name_, "the left side must start with an op");
  return e;
}

}  // namespace tenon::rewrite
