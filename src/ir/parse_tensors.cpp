// SPDX-License-Identifier: Apache-2.0
// Constants of the text form.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/parse_numbers.h"
#include "ir/parse_values.h"

namespace tenon::ir {

namespace {

bool fits(int64_t value, DType dtype) {
  int bits = bits_of(dtype);
  if (bits >= 64) return dtype != DType::u64 || value >= 0;
  int64_t high = int64_t{1} << (is_signed(dtype) ? bits - 1 : bits);
  return value < high && value >= (is_signed(dtype) ? -high : 0);
}

}  // namespace

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
    auto value = token.kind == Token::Kind::string ? std::nullopt : read_f32(token.text);
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
    auto value = read_unsigned(token.text);
    if (!value) return lexer_.error(token, "an element is no u64").expected("an integer >= 0");
    out.as_mutable<uint64_t>()[static_cast<size_t>(i)] = *value;
    return {};
  }
  auto value = read_integer(token.text);
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
    return lexer_.error(near, "the bytes of this constant are missing")
        .expected(fmt::format("a number below {}", big_ ? big_->constants.size() : 0))
        .found(fmt::format("@{}", k));
  }
  ConstantRef constant = big_->constants[static_cast<size_t>(k)];
  Type own(constant->dtype, DimList(constant->shape.begin(), constant->shape.end()));
  if (!(own == type)) return lexer_.error(near, "the bytes of this constant are of another type").expected(type.text()).found(own.text());
  return constant;
}

Result<ConstantRef> ValueParser::constant(const Type& type) {
  Token near = lexer_.peek();
  if (structure_only_ && is_without_bytes(near)) return unread(type);
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

/// "@3", "digest(...)" or "splat(1.5)", of which parse_structure() reads the type alone.
Result<ConstantRef> ValueParser::unread(const Type& type) {
  const Token near = lexer_.peek();
  const bool is_known = type.dtype != DType::none && type.is_static() && type.kind == Type::Kind::tensor;
  Sizes shape;
  for (size_t k = 0; is_known && k < type.shape->size(); ++k) shape.push_back((*type.shape)[k].value());
  const auto count = checked_count(shape);
  if (!is_known || !count || *count >= kMaxElements)
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

}  // namespace tenon::ir
