// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "codegen/plan/text.h"
#include "codegen/text/plan_reader.h"

namespace tenon::codegen {

namespace {

using ir::Token;

class NestReader {
 public:
  NestReader(PlanReader& reader, const Plan& plan) : reader_(reader), lexer_(reader.lexer), plan_(plan) {}

  Result<Nest> run() {
    const Token start = TRY(lexer_.expect("for", "a nest"));
    TRY(axes());
    nest_.exclusive = lexer_.take_if("exclusive");
    nest_.reverse = lexer_.take_if("reverse");
    while (is_access()) TRY(access());
    if (lexer_.take_if("where")) TRY(condition());
    while (reader_.at_array() && !lexer_.peek(1).is(":")) TRY(output());
    if (nest_.outputs.empty()) return lexer_.error(lexer_.peek(), "a nest that writes nothing").expected("a line such as t2[i0] = x0");
    if (!refers_to_what_there_is())
      return lexer_.error(start, "an expression of this nest has an axis or a load that the nest lacks")
          .expected(fmt::format("{} axes and {} loads", nest_.axes.size(), nest_.accesses.size()));
    return std::move(nest_);
  }

 private:
  Result<void> axes() {
    if (lexer_.take_if("_")) return {};
    do {
      const Token token = lexer_.peek();
      if (nest_.axes.size() == PlanReader::kMostAxes)
        return lexer_.error(token, fmt::format("more than {} axes", PlanReader::kMostAxes), Code::limit_exceeded);
      ops::Axis axis;
      if (token.text.starts_with('+')) {
        axis.kind = ops::Axis::Kind::reduced;
        lexer_.seek(token.at + 1);
      } else if (lexer_.take_if("~")) {
        axis.kind = ops::Axis::Kind::scanned;
      }
      axis.extent = TRY(reader_.dim("an axis"));
      nest_.axes.push_back(axis);
    } while (lexer_.take_if(","));
    return {};
  }

  bool is_access() { return lexer_.peek(1).is("=") && lexer_.peek().text.starts_with('x'); }

  ExprTypes types(DType result) const { return {result, inputs_}; }

  /// "v0[i0, i1]", "v0(i0)"
  Result<void> place(ArrayId array, std::vector<Expr>& index, Expr& flat) {
    const Token open = lexer_.take();
    if (open.is("(")) {
      flat = TRY(reader_.expr(types(DType::i64)));
      TRY(lexer_.expect(")", "an element number"));
      return {};
    }
    if (!open.is("[")) return lexer_.error(open, "the place in an array is missing").expected("[index] or (element number)");
    if (!lexer_.peek().is("]")) {
      do index.push_back(TRY(reader_.expr(types(DType::i64))));
      while (lexer_.take_if(","));
    }
    TRY(lexer_.expect("]", "an index"));
    const size_t rank = plan_.arrays[array].shape.size();
    if (index.size() == rank) return {};
    return lexer_.error(open, "an index of another rank", Code::rank_mismatch)
        .expected(fmt::format("{} dimensions", rank))
        .found(fmt::format("{}", index.size()));
  }

  Result<void> access() {
    const Token name = lexer_.take();
    if (name.text.substr(1) != fmt::format("{}", nest_.accesses.size()))
      return lexer_.error(name, "loads are not numbered in their order").expected(fmt::format("x{}", nest_.accesses.size()));
    lexer_.take();
    NestAccess a;
    a.array = TRY(reader_.array(plan_));
    a.dtype = plan_.arrays[a.array].dtype;
    TRY(place(a.array, a.index, a.flat));
    if (lexer_.take_if("if")) {
      a.within = TRY(reader_.expr(types(DType::boolean)));
      TRY(lexer_.expect("else", "the value outside"));
      a.fill = TRY(reader_.expr(types(a.dtype)));
    }
    nest_.accesses.push_back(std::move(a));
    inputs_.push_back(nest_.accesses.back().dtype);
    return {};
  }

  Result<void> condition() {
    const Token token = lexer_.take();
    for (size_t k = 0; k < nest_.accesses.size(); ++k)
      if (token.is(fmt::format("x{}", k))) nest_.condition = static_cast<int>(k);
    if (nest_.condition < 0) return lexer_.error(token, "a condition that is no load of the nest").expected("x0, x1, ...");
    return {};
  }

  Result<void> output() {
    NestOutput o;
    o.array = TRY(reader_.array(plan_));
    o.dtype = plan_.arrays[o.array].dtype;
    TRY(place(o.array, o.index, o.flat));
    TRY(lexer_.expect("=", "an output"));
    if (lexer_.peek(1).is("of")) {
      o.combine = static_cast<ops::Combine>(TRY(reader_.one_of(kCombineWords, "how values are combined")));
      lexer_.take();
    }
    o.value = TRY(reader_.expr(types(o.dtype)));
    if (lexer_.take_if("if")) o.within = TRY(reader_.expr(types(DType::boolean)));
    nest_.outputs.push_back(std::move(o));
    return {};
  }

  bool refers_to_what_there_is() {
    const auto all = [&](const std::vector<Expr>& list) { return std::ranges::all_of(list, [&](const Expr& e) { return is_inside(e); }); };
    return std::ranges::all_of(nest_.accesses, [&](const NestAccess& a) { return all(a.index) && all({a.flat, a.within, a.fill}); }) &&
           std::ranges::all_of(nest_.outputs, [&](const NestOutput& o) { return all(o.index) && all({o.flat, o.within, o.value}); });
  }

  bool is_inside(const Expr& e) const {
    if (!e) return true;
    const auto index = static_cast<size_t>(e->index);
    if (e.op() == ExprOp::axis) return index < nest_.axes.size();
    if (e.op() == ExprOp::input) return index < inputs_.size() && inputs_[index] == e.dtype();
    return std::ranges::all_of(e.args(), [&](const Expr& a) { return is_inside(a); });
  }

  PlanReader& reader_;
  ir::Lexer& lexer_;
  const Plan& plan_;
  Nest nest_;
  std::vector<DType> inputs_;
};

}  // namespace

Result<Nest> parse_nest(PlanReader& reader, const Plan& plan) { return NestReader(reader, plan).run(); }

}  // namespace tenon::codegen
