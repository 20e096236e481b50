// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/expression.h"

#include <fmt/format.h>

#include <algorithm>
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
    const std::vector<ir::ValueId> values = TRY(operand(term));
    if (values.size() == 1) return values[0];
    return wrong(fmt::format("'{}' stands for any number of operands", term.text))
        .expected("it among the operands of a call")
        .found(fmt::format("{} of them as the result", values.size()));
  }

 private:
  static Error wrong(std::string what) { return fail(Code::bad_graph, "definition", std::move(what)); }
  static Error unknown(const Term& term) {
    return wrong(fmt::format("'{}' is neither an operand nor a field of the op", term.text))
        .expected("names of operands and fields, numbers, calls of ops");
  }

  Result<std::vector<ir::ValueId>> operand(const Term& term) {
    if (term.kind == Term::Kind::call) return std::vector{TRY(call(term))};
    if (term.kind == Term::Kind::name) {
      if (auto values = names_.operand(term.text)) return *std::move(values);
      if (names_.is_left_out(term.text)) return std::vector{ir::ValueId()};
    }
    return unknown(term);
  }

  Result<ir::ValueId> call(const Term& term) {
    std::vector<ir::ValueId> operands;
    std::vector<std::pair<size_t, const Term*>> constants;  // their dtype is that of the other operand
    for (const Term& t : term.terms) {
      if (is_constant(t)) {
        constants.emplace_back(operands.size(), &t);
        operands.emplace_back();
        continue;
      }
      for (ir::ValueId v : TRY(operand(t))) operands.push_back(v);
    }
    const DType dtype = dtype_of(operands);
    for (const auto& [at, t] : constants) operands[at] = TRY(constant(*t, dtype));
    std::vector<std::pair<std::string, ir::Attribute>> attributes;
    for (const auto& [name, value] : term.attributes)
      if (value.kind != Term::Kind::name || !names_.is_left_out(value.text)) attributes.emplace_back(name, TRY(attribute(value)));
    const ir::ValueId out = build_(term.text, std::move(operands), std::move(attributes));
    if (!build_.status()) return std::unexpected(build_.status().error());
    return out;
  }

  DType dtype_of(std::span<const ir::ValueId> operands) const {
    const auto first = std::ranges::find_if(operands, [](ir::ValueId v) { return static_cast<bool>(v); });
    return first == operands.end() ? DType::f32 : build_.graph().value(*first).type.dtype;
  }

  bool is_constant(const Term& term) const {
    if (term.kind == Term::Kind::number || term.kind == Term::Kind::list) return true;
    return term.kind == Term::Kind::name && !names_.operand(term.text) && names_.field(term.text);
  }

  Result<ir::ValueId> constant(const Term& term, DType dtype) {
    if (term.kind == Term::Kind::number) return build_.scalar(dtype, term.number);
    const ir::Attribute value = TRY(attribute(term));
    if (const auto* whole = std::get_if<int64_t>(&value)) return build_.scalar(dtype, static_cast<double>(*whole));
    if (const auto* real = std::get_if<float>(&value)) return build_.scalar(dtype, *real);
    if (const auto* whole = std::get_if<ir::Ints>(&value)) return build_.ints({whole->begin(), whole->end()});
    if (const auto* real = std::get_if<ir::Floats>(&value)) return build_.constant(TRY(numbers(*real, dtype)));
    return wrong(fmt::format("field '{}' is no number, and no operand", term.text));
  }

  static Result<Tensor> numbers(const ir::Floats& values, DType dtype) {
    Tensor out = TRY(Tensor::make(dtype, {static_cast<int64_t>(values.size())}));
    std::byte* to = out.mutable_data();
    for (const float value : values) {
      const Tensor one = Tensor::scalar(dtype, value);
      to = std::copy_n(one.data(), one.byte_size(), to);
    }
    return out;
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
    return wrong("an attribute is a number, a text, a list or a field").found(term.text);
  }

  Result<ir::Attribute> list(const Term& term) const {
    ir::Ints whole;
    ir::Floats real;
    for (const Term& t : term.terms) {
      if (t.kind != Term::Kind::number && t.kind != Term::Kind::name)
        return wrong("a list holds numbers, and fields that are one").found(t.text);
      const ir::Attribute value = TRY(attribute(t));
      const auto* const as_whole = std::get_if<int64_t>(&value);
      const auto* const as_real = std::get_if<float>(&value);
      if (!as_whole && !as_real) return wrong(fmt::format("a list holds numbers, and field '{}' is none", t.text));
      if (as_whole) whole.push_back(*as_whole);
      real.push_back(as_whole ? static_cast<float>(*as_whole) : *as_real);
    }
    return whole.size() == real.size() ? ir::Attribute(std::move(whole)) : ir::Attribute(std::move(real));
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
