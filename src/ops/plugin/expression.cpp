// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/expression.h"

#include <fmt/format.h>

#include <charconv>

#include "ir/lexer.h"

namespace tenon::ops {

namespace {

using Term = Expression::Term;

constexpr int kDeepest = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Term> run() {
    Term out = TRY(term(0));
    if (out.kind != Term::Kind::call && out.kind != Term::Kind::name) return lexer_.error(lexer_.peek(), "a definition is a call of an op");
    if (lexer_.peek().kind != ir::Token::Kind::end) return lexer_.error(lexer_.peek(), "the definition should end here");
    return out;
  }

 private:
  Result<Term> term(int depth) {
    if (depth > kDeepest)
      return lexer_.error(lexer_.peek(), fmt::format("it is nested deeper than {} levels", kDeepest), Code::limit_exceeded);
    const ir::Token token = lexer_.take();
    if (token.kind == ir::Token::Kind::string) return Term{Term::Kind::text, TRY(ir::unquote(lexer_, token)), 0, {}};
    if (token.kind == ir::Token::Kind::number) return number(token);
    if (token.is("[")) return list(depth);
    if (token.kind != ir::Token::Kind::name) return lexer_.error(token, "expected an operand, a field, a number or a call");
    Term out{Term::Kind::name, std::string(token.text), 0, {}};
    while (lexer_.take_if("::")) out.text.append("::").append(lexer_.take().text);
    if (lexer_.take_if("(")) TRY(arguments(out, depth));
    return out;
  }

  Result<Term> number(const ir::Token& token) {
    Term out{Term::Kind::number, std::string(token.text), 0, {}};
    const auto read = std::from_chars(token.text.data(), token.text.data() + token.text.size(), out.number);
    if (read.ec != std::errc() || read.ptr != token.text.data() + token.text.size()) return lexer_.error(token, "this is no number");
    return out;
  }

  Result<Term> list(int depth) {
    Term out{Term::Kind::list, "", 0, {}};
    while (!lexer_.take_if("]")) {
      if (!out.terms.empty()) TRY(lexer_.expect(",", "between elements of a list"));
      out.terms.push_back(TRY(term(depth + 1)));
    }
    return out;
  }

  Result<void> arguments(Term& call, int depth) {
    call.kind = Term::Kind::call;
    for (bool first = true; !lexer_.take_if(")"); first = false) {
      if (!first) TRY(lexer_.expect(",", "between operands of a call"));
      if (lexer_.peek().kind == ir::Token::Kind::name && lexer_.peek(1).is("=")) {
        std::string name(lexer_.take().text);
        lexer_.take();
        call.attributes.emplace_back(std::move(name), TRY(term(depth + 1)));
      } else {
        call.terms.push_back(TRY(term(depth + 1)));
      }
    }
    return {};
  }

  ir::Lexer lexer_;
};

bool is_whole(const Term& t) { return t.text.find_first_of(".eEnN") == std::string::npos; }

class Building {
 public:
  Building(ir::Builder& build, const Expression::Names& names) : build_(build), names_(names) {}

  Result<ir::ValueId> value(const Term& term) {
    if (term.kind == Term::Kind::call) return call(term);
    if (term.kind == Term::Kind::name)
      if (const auto operand = names_.operand(term.text)) return *operand;
    return unknown(term);
  }

 private:
  Error unknown(const Term& term) const {
    return fail(Code::bad_graph, "definition", fmt::format("'{}' is neither an operand nor a field of the op", term.text))
        .expected("names of operands and fields, numbers, calls of ops");
  }

  Result<ir::ValueId> call(const Term& term) {
    std::vector<ir::ValueId> operands(term.terms.size());
    DType dtype = DType::f32;
    bool is_known = false;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (is_scalar(term.terms[k])) continue;
      operands[k] = TRY(value(term.terms[k]));
      if (!is_known && operands[k]) dtype = build_.graph().value(operands[k]).type.dtype;
      is_known |= static_cast<bool>(operands[k]);
    }
    for (size_t k = 0; k < operands.size(); ++k)
      if (is_scalar(term.terms[k])) operands[k] = build_.scalar(dtype, TRY(number(term.terms[k])));
    std::vector<std::pair<std::string, ir::Attribute>> attributes;
    for (const auto& [name, value] : term.attributes) attributes.emplace_back(name, TRY(attribute(value)));
    const ir::ValueId out = build_(term.text, std::move(operands), std::move(attributes));
    if (!build_.status()) return std::unexpected(build_.status().error());
    return out;
  }

  bool is_scalar(const Term& term) const {
    if (term.kind == Term::Kind::number) return true;
    return term.kind == Term::Kind::name && !names_.operand(term.text) && names_.field(term.text);
  }

  Result<double> number(const Term& term) const {
    if (term.kind == Term::Kind::number) return term.number;
    const auto field = names_.field(term.text);
    if (const auto* whole = std::get_if<int64_t>(&*field)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<float>(&*field)) return *real;
    return fail(Code::bad_graph, "definition", fmt::format("field '{}' is no number, and no operand", term.text));
  }

  Result<ir::Attribute> attribute(const Term& term) const {
    switch (term.kind) {
      case Term::Kind::text: return ir::Attribute(term.text);
      case Term::Kind::number:
        return is_whole(term) ? ir::Attribute(static_cast<int64_t>(term.number)) : ir::Attribute(static_cast<float>(term.number));
      case Term::Kind::name:
        if (auto field = names_.field(term.text)) return *std::move(field);
        return unknown(term);
      case Term::Kind::list: return list(term);
      case Term::Kind::call: break;
    }
    return fail(Code::bad_graph, "definition", "an attribute is a number, a text, a list or a field").found(term.text);
  }

  Result<ir::Attribute> list(const Term& term) const {
    ir::Ints whole;
    ir::Floats real;
    bool all_whole = true;
    for (const Term& t : term.terms) {
      if (t.kind != Term::Kind::number) return fail(Code::bad_graph, "definition", "a list holds numbers").found(t.text);
      all_whole &= is_whole(t);
      whole.push_back(static_cast<int64_t>(t.number));
      real.push_back(static_cast<float>(t.number));
    }
    return all_whole ? ir::Attribute(std::move(whole)) : ir::Attribute(std::move(real));
  }

  ir::Builder& build_;
  const Expression::Names& names_;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
  Expression out;
  out.root_ = TRY(Parser(text).run());
  return out;
}

Result<ir::ValueId> Expression::build(ir::Builder& build, const Names& names) const { return Building(build, names).value(root_); }

}  // namespace tenon::ops
