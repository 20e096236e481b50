// SPDX-License-Identifier: Apache-2.0
#include "ir/parse_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/checked.h"

namespace tenon::ir {
namespace {

template <class T>
std::optional<T> read(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> read_float(std::string_view text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf" || text == "+inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return read<double>(text);
}

/// Straight to f32: by way of double it would be rounded twice.
std::optional<float> read_single(std::string_view text) {
  if (auto value = read<float>(text)) return value;
  auto wide = read_float(text);
  return wide ? std::optional(static_cast<float>(*wide)) : std::nullopt;
}

bool is_float_text(std::string_view text) { return text.find_first_of(".eEn") != text.npos; }

bool fits(int64_t value, DType dtype) {
  int bits = bits_of(dtype);
  if (bits >= 64) return dtype != DType::u64 || value >= 0;
  int64_t high = int64_t{1} << (is_signed(dtype) ? bits - 1 : bits);
  return value < high && value >= (is_signed(dtype) ? -high : 0);
}

}  // namespace

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
  auto value = read<int64_t>(token.text);
  if (token.kind != Token::Kind::number || !value) return lexer_.error(token, fmt::format("{} is no number", what)).expected("an integer");
  return *value;
}

// --- types ---------------------------------------------------------------------------------------------------

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

// --- tensors -------------------------------------------------------------------------------------------------

Result<Tensor> ValueParser::make(const Type& type, const Token& near) {
  if (type.dtype == DType::none || !type.is_static() || type.kind != Type::Kind::tensor) {
    return lexer_.error(near, "a constant's type must be known").expected("a dtype and a number for each axis").found(type.text());
  }
  Sizes shape;
  for (Dim d : *type.shape) shape.push_back(d.value());
  auto tensor = Tensor::make(type.dtype, std::move(shape), bytes_left_);
  if (!tensor) return std::unexpected(std::move(tensor.error()).at(lexer_.place(near.at)));
  int64_t cost = type.dtype == DType::string ? tensor->count() * int64_t{sizeof(std::string)} : tensor->byte_size();
  if (cost > bytes_left_) return lexer_.error(near, "the text's constants take more than 256 MiB", Code::limit_exceeded);
  bytes_left_ -= cost;
  return tensor;
}

Result<double> ValueParser::number(const Token& token) {
  auto value = read_float(token.text);
  if (!value || token.kind == Token::Kind::string) return lexer_.error(token, "an element is no number").expected("a number, inf or nan");
  return *value;
}

Result<void> ValueParser::complex_element(Tensor& out, int64_t i) {
  TRY(lexer_.expect("(", "a complex number"));
  double real = TRY(number(lexer_.take()));
  TRY(lexer_.expect(",", "a complex number"));
  double imaginary = TRY(number(lexer_.take()));
  TRY(lexer_.expect(")", "a complex number"));
  if (out.dtype() == DType::c64) {
    float* p = reinterpret_cast<float*>(out.mutable_data()) + 2 * i;
    p[0] = static_cast<float>(real);
    p[1] = static_cast<float>(imaginary);
  } else {
    double* p = reinterpret_cast<double*>(out.mutable_data()) + 2 * i;
    p[0] = real;
    p[1] = imaginary;
  }
  return {};
}

Result<void> ValueParser::float_element(Tensor& out, int64_t i, const Token& token) {
  const DType dtype = out.dtype();
  if (dtype == DType::f32) {
    auto value = token.kind == Token::Kind::string ? std::nullopt : read_single(token.text);
    if (!value) return lexer_.error(token, "an element is no number").expected("a number, inf or nan");
    out.as_mutable<float>()[static_cast<size_t>(i)] = *value;
    return {};
  }
  const double value = TRY(number(token));
  // Only a Cast saturates; infinity in the text is infinity where the format has one.
  if (bits_of(dtype) == 8)
    out.as_mutable<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(encode_float(dtype, value, std::isfinite(value)));
  else out.set_number(i, value);
  return {};
}

Result<void> ValueParser::integer_element(Tensor& out, int64_t i, const Token& token) {
  if (out.dtype() == DType::u64) {
    auto value = read<uint64_t>(token.text);
    if (!value) return lexer_.error(token, "an element is no u64").expected("an integer >= 0");
    out.as_mutable<uint64_t>()[static_cast<size_t>(i)] = *value;
    return {};
  }
  auto value = read<int64_t>(token.text);
  if (!value || !fits(*value, out.dtype()))
    return lexer_.error(token, fmt::format("an element is no {}", name_of(out.dtype()))).expected("an integer that fits");
  out.set_integer(i, *value);
  return {};
}

Result<void> ValueParser::element(Tensor& out, int64_t i) {
  const DType dtype = out.dtype();
  if (is_complex(dtype)) return complex_element(out, i);
  Token token = lexer_.take();
  if (dtype == DType::string) {
    if (token.kind != Token::Kind::string) return lexer_.error(token, "an element is no text").expected("a string in quotes");
    out.mutable_strings()[static_cast<size_t>(i)] = TRY(unquote(lexer_, token));
    return {};
  }
  if (dtype == DType::boolean) {
    if (!token.is("true") && !token.is("false") && !token.is("0") && !token.is("1"))
      return lexer_.error(token, "an element is no bool").expected("true or false");
    out.set_integer(i, token.is("true") || token.is("1"));
    return {};
  }
  return is_float(dtype) ? float_element(out, i, token) : integer_element(out, i, token);
}

Result<void> ValueParser::elements(Tensor& out, int64_t& count, int depth) {
  Token open = TRY(lexer_.expect("[", "a constant"));
  if (depth > static_cast<int>(kMaxRank)) return lexer_.error(open, "too many nested brackets", Code::limit_exceeded);
  if (lexer_.take_if("]")) return {};
  do {
    if (lexer_.peek().is("[")) {
      TRY(elements(out, count, depth + 1));
      continue;
    }
    if (count == out.count())
      return lexer_.error(lexer_.peek(), "more elements than the type has").expected(fmt::format("{}", out.count()));
    TRY(element(out, count++));
  } while (lexer_.take_if(","));
  TRY(lexer_.expect("]", "a constant"));
  return {};
}

/// A bare element for a constant of one element; else a list, in which nested brackets mean nothing but order.
Result<void> ValueParser::elements(Tensor& out) {
  Token begin = lexer_.peek();
  if (out.count() == 1 && !begin.is("[")) return element(out, 0);
  int64_t count = 0;
  TRY(elements(out, count, 0));
  if (count == out.count()) return {};
  return lexer_.error(begin, "fewer elements than the type has").expected(fmt::format("{}", out.count())).found(fmt::format("{}", count));
}

Result<ConstantRef> ValueParser::by_number(const Type& type) {
  Token near = lexer_.take();
  int64_t k = TRY(integer("the number of a constant"));
  if (!big_ || k < 0 || k >= static_cast<int64_t>(big_->constants.size())) {
    return lexer_.error(near, "the bytes of this constant are not beside the text")
        .expected(fmt::format("a number below {}", big_ ? big_->constants.size() : 0))
        .found(fmt::format("@{}", k));
  }
  ConstantRef constant = big_->constants[static_cast<size_t>(k)];
  Type own(constant->dtype, DimList(constant->shape.begin(), constant->shape.end()));
  if (!(own == type)) return lexer_.error(near, "the bytes beside the text are of another type").expected(type.text()).found(own.text());
  return constant;
}

Result<ConstantRef> ValueParser::constant(const Type& type) {
  Token near = lexer_.peek();
  if (outline_ && is_without_bytes(near)) return unread(type);
  if (near.is("@")) return by_number(type);
  if (near.is("digest")) return lexer_.error(near, "this text was printed without the bytes of its constants").expected("elements, or @k");
  Tensor out = TRY(make(type, near));
  if (!near.is("splat")) {
    TRY(elements(out));
    return constant_of(std::move(out));
  }
  const Tensor one = TRY(splat(out.dtype()));
  const int bits = bits_of(out.dtype());
  if (bits < 8) return lexer_.error(near, "not supported yet: splat of this dtype", Code::not_supported);
  const auto width = static_cast<size_t>(bits / 8);
  for (int64_t i = 0; i < out.count(); ++i) std::copy_n(one.data(), width, out.mutable_data() + static_cast<size_t>(i) * width);
  return constant_of(std::move(out));
}

/// "splat(1.5)": the one element.
Result<Tensor> ValueParser::splat(DType dtype) {
  lexer_.take();
  TRY(lexer_.expect("(", "a splat"));
  Tensor one = TRY(make(Type(dtype, {}), lexer_.peek()));
  TRY(element(one, 0));
  TRY(lexer_.expect(")", "a splat"));
  return one;
}

bool ValueParser::is_without_bytes(const Token& token) const { return token.is("@") || token.is("digest") || token.is("splat"); }

/// "@3", "digest(...)" or "splat(1.5)", of which an outline has the type alone.
Result<ConstantRef> ValueParser::unread(const Type& type) {
  const Token near = lexer_.peek();
  const bool is_known = type.dtype != DType::none && type.is_static() && type.kind == Type::Kind::tensor;
  Sizes shape;
  for (size_t k = 0; is_known && k < type.shape->size(); ++k) shape.push_back((*type.shape)[k].value());
  const auto count = checked_count(shape);
  if (!is_known || !count || *count >= kMostElements)
    return lexer_.error(near, "a constant's type must be known").expected("a dtype and a number for each axis").found(type.text());
  if (near.is("splat")) {
    TRY(splat(type.dtype));
  } else if (lexer_.take().is("@")) {
    TRY(integer("the number of a constant"));
  } else {
    TRY(lexer_.expect("(", "a digest"));
    lexer_.take();
    TRY(lexer_.expect(")", "a digest"));
  }
  return reference_to({}, type.dtype, std::move(shape));
}

// --- attributes ----------------------------------------------------------------------------------------------

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
    else if (auto value = read<int64_t>(token.text)) ints.push_back(*value);
    else return lexer_.error(token, "an element of a list is neither number nor string").expected("an integer, a float or a string");
    if (!floats.empty() && is_float_text(token.text)) floats.back() = read_single(token.text).value_or(floats.back());
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
  if (outline_ && is_without_bytes(lexer_.peek())) {
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
      if (auto value = read<int64_t>(token.text)) return Attribute(*value);
    } else if (auto value = read_single(token.text)) {
      return Attribute(*value);
    }
  }
  return lexer_.error(token, "the value of an attribute is not well formed").expected("a number, string, list or tensor");
}

}  // namespace tenon::ir
