// SPDX-License-Identifier: Apache-2.0
#include "codegen/text/plan_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/parse_numbers.h"

namespace tenon::codegen {

Result<int64_t> PlanReader::integer(std::string_view what, int64_t low, int64_t high) {
  const ir::Token token = lexer.take();
  const auto value = token.kind == ir::Token::Kind::number ? read_integer(token.text) : std::nullopt;
  if (value && *value >= low && *value <= high) return *value;
  return lexer.error(token, fmt::format("{} is not well formed", what)).expected(fmt::format("an integer from {} to {}", low, high));
}

Result<double> PlanReader::number(std::string_view what) {
  const ir::Token token = lexer.take();
  const auto value = token.kind == ir::Token::Kind::string ? std::nullopt : read_float(token.text);
  if (value) return *value;
  return lexer.error(token, fmt::format("{} is not well formed", what)).expected("a number");
}

Result<Sizes> PlanReader::dotted(std::string_view what, int64_t high) {
  const ir::Token token = lexer.take();
  Sizes out;
  for (size_t begin = 0, end = 0; begin <= token.text.size() && token.kind == ir::Token::Kind::number; begin = end + 1) {
    end = std::min(token.text.find('.', begin), token.text.size());
    const auto value = read_integer(token.text.substr(begin, end - begin));
    if (!value || *value < 0 || *value > high || out.size() == kMostAxes) break;
    out.push_back(*value);
    if (end == token.text.size()) return out;
  }
  return lexer.error(token, fmt::format("{} is not well formed", what))
      .expected(fmt::format("integers from 0 to {} with points between them, such as 0.4.2", high));
}

Result<Dim> PlanReader::dim(std::string_view what) {
  const ir::Token token = lexer.peek();
  if (token.is("[")) {
    const DimList sizes = TRY(values.sizes());
    if (sizes.size() == 1) return sizes[0];
  } else if (token.kind == ir::Token::Kind::name || token.kind == ir::Token::Kind::number) {
    lexer.take();
    const auto size = symbols_.parse(token.text);
    if (size && size->lower() >= 0) return *size;
  }
  return lexer.error(token, fmt::format("{} is no size", what)).expected("a number, a symbol, or a size in brackets such as [2*n + 1]");
}

Result<std::vector<const DimNode*>> PlanReader::symbol_list() {
  const ir::Token token = lexer.peek();
  std::vector<const DimNode*> out;
  for (Dim d : TRY(values.sizes())) {
    if (d.is_number() || d.node()->kind != DimNode::Kind::symbol)
      return lexer.error(token, "a list of symbols has another size").found(d.text());
    out.push_back(d.node());
  }
  return out;
}

Result<Expr> PlanReader::expr(const ExprTypes& types) {
  size_t at = lexer.peek().at;
  auto out = parse_expr(lexer.text(), at, symbols_, types);
  if (!out) return std::move(out).error().placed_at(lexer.place(at));
  lexer.seek(at);
  return out;
}

bool PlanReader::at_array() {
  const ir::Token& token = lexer.peek();
  const bool letter = token.kind == ir::Token::Kind::name && token.text.size() > 1 && std::string_view("cvt").contains(token.text[0]);
  return letter && token.text.find_first_not_of("0123456789", 1) == token.text.npos;
}

Result<ArrayId> PlanReader::array(const Plan& plan) {
  const ir::Token token = lexer.peek();
  const auto number = at_array() ? read_unsigned(token.text.substr(1)) : std::nullopt;
  lexer.take();
  if (number && *number < declared.size() && declared[*number]) {
    const Array& a = plan.arrays[*number];
    if (token.text[0] == (a.constant ? 'c' : a.value ? 'v' : 't')) return static_cast<ArrayId>(*number);
  }
  return lexer.error(token, "no array of this name is declared").expected("c0, v0 or t0 of a line `v0: f32[n, 64]` at the plan's head");
}

Result<std::vector<ArrayId>> PlanReader::arrays(const Plan& plan, bool with_blanks) {
  std::vector<ArrayId> out;
  do out.push_back(with_blanks && lexer.take_if("_") ? -1 : TRY(array(plan)));
  while (lexer.take_if(","));
  return out;
}

Result<IndexLimit> PlanReader::limit(const Plan& plan) {
  IndexLimit out;
  out.input = TRY(array(plan));
  TRY(lexer.expect("below", "a limit of indices"));
  out.extent = TRY(dim("a limit of indices"));
  if (lexer.take_if("from")) {
    TRY(lexer.expect("end", "a limit of indices"));
    out.from_end = true;
  }
  return out;
}

Result<size_t> PlanReader::one_of(std::span<const std::string_view> words, std::string_view what) {
  const ir::Token token = lexer.take();
  for (size_t k = 0; k < words.size(); ++k)
    if (token.is(words[k])) return k;
  return lexer.error(token, fmt::format("{} is not known", what)).expected(fmt::format("{}", fmt::join(words, ", ")));
}

}  // namespace tenon::codegen
