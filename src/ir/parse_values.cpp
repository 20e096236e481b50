// SPDX-License-Identifier: Apache-2.0
#include "ir/parse_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_numbers.h"

namespace tenon::ir {

Result<std::string> ValueParser::name(std::string_view what) {
  Token token = lexer_.peek();
  if (token.kind != Token::Kind::name && token.kind != Token::Kind::string) {
    return lexer_.error(token, fmt::format("the name of {} is missing", what)).expected("a name");
  }
  lexer_.take();
  return token.kind == Token::Kind::string ? unquote(lexer_, token) : std::string(token.text);
}

Result<int64_t> ValueParser::integer(std::string_view what) {
  Token token = lexer_.take();
  auto value = read_integer(token.text);
  if (token.kind != Token::Kind::number || !value) return lexer_.error(token, fmt::format("{} is no number", what)).expected("an integer");
  return *value;
}

Result<Dim> ValueParser::dim(std::string_view text, const Token& near) {
  auto parsed = symbols_.parse(text);
  if (!parsed || (parsed->is_number() && parsed->value() < 0)) {
    return lexer_.error(near, "a size is not well formed")
        .expected("a number, a symbol or a polynomial such as 2*seq + 1")
        .found("`" + std::string(text.substr(0, 60)) + "`");
  }
  return *parsed;
}

Result<Type> ValueParser::tensor_type() {
  Token token = lexer_.take();
  auto dtype = token.is("?") ? DType::none : dtype_named(token.text);
  if (!dtype || token.kind == Token::Kind::string) return lexer_.error(token, "unknown dtype").expected("f32, i64, bool, ... or ?");
  Type type(*dtype);
  if (!lexer_.peek().is("[")) return type;
  std::string_view text = TRY(lexer_.bracketed());
  if (text != "*") type.shape = TRY(sizes_in(text, token));
  return type;
}

Result<DimList> ValueParser::sizes() {
  Token token = lexer_.peek();
  if (!token.is("[")) return lexer_.error(token, "expected a list of sizes").expected("[");
  return sizes_in(TRY(lexer_.bracketed()), token);
}

Result<DimList> ValueParser::sizes_in(std::string_view text, const Token& near) {
  auto blank = [](std::string_view t) { return t.find_first_not_of(" \t\r\n") == t.npos; };
  DimList out;
  if (blank(text)) return out;
  bool is_quoted = false;
  size_t depth = 0, begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (is_quoted && c == '\\') ++i;
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted && c == '(') ++depth;
    if (!is_quoted && c == ')' && depth > 0) --depth;
    bool at_end = i >= text.size();
    if (!at_end && (c != ',' || is_quoted || depth > 0)) continue;
    if (out.size() == kMaxRank) return lexer_.error(near, fmt::format("more than {} axes", kMaxRank), Code::limit_exceeded);
    out.push_back(TRY(dim(text.substr(begin, std::min(i, text.size()) - begin), near)));
    begin = i + 1;
  }
  return out;
}

/// "map(string,f32)"
Result<Type> ValueParser::map_type() {
  lexer_.take();
  TRY(lexer_.expect("(", "a type"));
  const Token near = lexer_.peek();
  const Type key = TRY(tensor_type());
  TRY(lexer_.expect(",", "a type"));
  const Type value = TRY(tensor_type());
  TRY(lexer_.expect(")", "a type"));
  if (key.has_rank() || value.has_rank() || (key.dtype != DType::i64 && key.dtype != DType::string))
    return lexer_.error(near, "no types of keys and values").expected("i64 or string, and an element type");
  return Type::map(key.dtype, value.dtype);
}

Result<Type> ValueParser::type() {
  const bool optional = lexer_.take_if("optional");
  if (optional) TRY(lexer_.expect("(", "a type"));
  const bool sequence = lexer_.take_if("seq");
  if (sequence) TRY(lexer_.expect("(", "a type"));
  const bool map = !optional && lexer_.peek().is("map");
  Type type = map ? TRY(map_type()) : TRY(tensor_type());
  if (sequence) TRY(lexer_.expect(")", "a type"));
  if (optional) TRY(lexer_.expect(")", "a type"));
  if (map) type.kind = sequence ? Type::Kind::sequence_of_maps : Type::Kind::map;
  if (map) return type;
  type.kind = optional   ? sequence ? Type::Kind::optional_sequence : Type::Kind::optional
              : sequence ? Type::Kind::sequence
                         : Type::Kind::tensor;
  return type;
}

Result<Type> parse_type(std::string_view text, Symbols& symbols) {
  Lexer lexer(text);
  Type type = TRY(ValueParser(lexer, symbols, nullptr).type());
  if (lexer.peek().kind != Token::Kind::end) return lexer.error(lexer.peek(), "more than a type");
  return type;
}

Result<void> ValueParser::symbol() {
  std::string symbol_name = TRY(name("a symbol"));
  if (!lexer_.take_if("in")) {
    symbols_.symbol(symbol_name);
    return {};
  }
  Token near = lexer_.peek();
  int64_t low = TRY(integer("a symbol's lower bound"));
  TRY(lexer_.expect("to", "a symbol's interval"));
  int64_t high = TRY(integer("a symbol's upper bound"));
  constexpr int64_t kFar = int64_t{1} << 61;
  if (low > high || low < -kFar || high > kFar)
    return lexer_.error(near, "an interval that holds no size").expected("lower <= upper < 2^61");
  symbols_.symbol(symbol_name, low, high);
  return {};
}

Result<Attribute> ValueParser::list() {
  Token open = lexer_.take();
  if (lexer_.take_if("]")) return Attribute(Ints{});
  Ints ints;
  Floats floats;
  Strings strings;
  do {
    Token token = lexer_.take();
    if (token.kind == Token::Kind::string) strings.push_back(TRY(unquote(lexer_, token)));
    else if (is_float_text(token.text)) floats.push_back(static_cast<float>(TRY(number(token))));
    else if (auto value = read_integer(token.text)) ints.push_back(*value);
    else return lexer_.error(token, "an element of a list is neither number nor string").expected("an integer, a float or a string");
    if (!floats.empty() && is_float_text(token.text)) floats.back() = read_f32(token.text).value_or(floats.back());
  } while (lexer_.take_if(","));
  TRY(lexer_.expect("]", "a list"));
  if ((!ints.empty() + !floats.empty() + !strings.empty()) > 1)
    return lexer_.error(open, "a list of several kinds").expected("all integers, all floats or all strings");
  if (!strings.empty()) return Attribute(std::move(strings));
  if (!floats.empty()) return Attribute(std::move(floats));
  return Attribute(std::move(ints));
}

/// An attribute that starts with a word: inf, nan, none, floats[], strings[], or a tensor.
Result<Attribute> ValueParser::named_attribute() {
  Token word = lexer_.peek();
  if (word.is("inf") || word.is("nan")) {
    lexer_.take();
    return Attribute(static_cast<float>(*read_float(word.text)));
  }
  if (word.is("none")) {
    lexer_.take();
    return Attribute(Tensor());
  }
  if (word.is("floats") || word.is("strings")) {
    lexer_.take();
    TRY(lexer_.expect("[", "an empty list"));
    TRY(lexer_.expect("]", "an empty list"));
    return word.is("floats") ? Attribute(Floats{}) : Attribute(Strings{});
  }
  Type type = TRY(tensor_type());
  TRY(lexer_.expect("=", "a tensor attribute"));
  if (structure_only_ && is_without_bytes(lexer_.peek())) {
    TRY(unread(type));
    return Attribute(type.text() + ", not in this text");
  }
  ConstantRef made = TRY(constant(type));
  return Attribute(TRY(materialise(*made)));
}

Result<Attribute> ValueParser::attribute() {
  Token token = lexer_.peek();
  if (token.is("[")) return list();
  if (token.kind == Token::Kind::name || token.is("?")) return named_attribute();
  lexer_.take();
  if (token.kind == Token::Kind::string) return Attribute(TRY(unquote(lexer_, token)));
  if (token.kind == Token::Kind::number) {
    if (!is_float_text(token.text)) {
      if (auto value = read_integer(token.text)) return Attribute(*value);
    } else if (auto value = read_f32(token.text)) {
      return Attribute(*value);
    }
  }
  return lexer_.error(token, "the value of an attribute is not well formed").expected("a number, string, list or tensor");
}

bool merge_types(Type& declared, const Type& found) {
  if (declared.dtype != DType::none && found.dtype != DType::none && declared.dtype != found.dtype) return false;
  if (declared.kind != found.kind) return false;
  if (declared.dtype == DType::none) declared.dtype = found.dtype;
  if (!found.shape) return true;
  if (!declared.shape) {
    declared.shape = found.shape;
    return true;
  }
  if (declared.rank() != found.rank()) return false;
  for (size_t i = 0; i < found.shape->size(); ++i) {
    Dim a = (*declared.shape)[i], b = (*found.shape)[i];
    if (a.is_number() && b.is_number() && a != b) return false;
    if (b.is_number()) (*declared.shape)[i] = b;
  }
  return true;
}

}  // namespace tenon::ir
