// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/expr/text.h"
#include "base/scalar.h"

namespace tenon::inline base {
namespace {

constexpr int kDeepest = 500;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// A parsed expression, before the dtypes of bare numbers are determined.
struct Written {
  ExprOp op = ExprOp::constant;
  std::string_view word;        ///< as in the text
  DType dtype = DType::none;    ///< as the text states it: of a number, an input or a cast
  DType natural = DType::none;  ///< what the text determines by itself
  int32_t index = 0;
  Dim size;
  std::vector<Written> args;
};

std::optional<ExprOp> op_named(std::string_view name) {
  for (int op = static_cast<int>(ExprOp::neg); op <= static_cast<int>(ExprOp::select); ++op)
    if (name_of(static_cast<ExprOp>(op)) == name) return static_cast<ExprOp>(op);
  return std::nullopt;
}

size_t operands_of(ExprOp op) { return op == ExprOp::select ? 3 : op >= ExprOp::add ? 2 : 1; }

bool is_scalar(DType dtype) { return dtype != DType::none && dtype != DType::string && dtype < DType::map && !is_complex(dtype); }

class ExprParser {
 public:
  ExprParser(std::string_view text, size_t& at, Symbols& symbols, const ExprTypes& types)
      : text_(text), at_(at), symbols_(symbols), types_(types) {}

  Result<Expr> run() {
    const Written written = TRY(read());
    return typed(written, types_.result);
  }

 private:
  // --- text

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  bool take(char mark) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != mark) return false;
    ++at_;
    return true;
  }
  template <class F>
  std::string_view take_while(F belongs) {
    const size_t begin = at_;
    while (at_ < text_.size() && belongs()) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string_view word() {
    skip_blanks();
    return take_while([&] { return is_letter(text_[at_]) || is_digit(text_[at_]); });
  }
  Error wrong(std::string what) const {
    const std::string found = at_ < text_.size() ? "`" + std::string(text_.substr(at_, 20)) + "`" : "the end of the text";
    return fail(Code::bad_graph, "", std::move(what)).found(found.substr(0, found.find('\n')));
  }
  Error wrong_at(const Written& place, std::string what) const {
    at_ = static_cast<size_t>(place.word.data() - text_.data());
    return wrong(std::move(what));
  }

  Result<DType> dtype() {
    const size_t begin = at_;
    const auto known = dtype_named(word());
    if (known && is_scalar(*known)) return *known;
    at_ = begin;
    return wrong("no dtype of a scalar").expected("f32, i64, bool, ...");
  }

  Result<Written> read() {
    if (depth_ == kDeepest)
      return fail(Code::limit_exceeded, "", "an expression that nests too deep").expected(fmt::format("at most {} levels", kDeepest));
    ++depth_;
    Written out = TRY(read_one());
    --depth_;
    return out;
  }

  Result<Written> read_one() {
    skip_blanks();
    if (at_ >= text_.size()) return wrong("an expression is missing");
    const char c = text_[at_];
    if (c == '[') return size();
    if (is_digit(c) || c == '-') return number();
    const size_t begin = at_;
    const std::string_view name = word();
    if (name == "true" || name == "false")
      return Written{.word = name, .dtype = DType::boolean, .natural = DType::boolean, .size = {}, .args = {}};
    if (name == "inf" || name == "nan") {
      at_ = begin;
      return number();
    }
    if (name.size() > 1 && (c == 'x' || c == 'i') && std::ranges::all_of(name.substr(1), is_digit)) return leaf(name);
    if (const auto op = op_named(name)) return call(*op, name);
    at_ = begin;
    return wrong("no operator, load, axis, size or number").expected("add(x0, 1), x0, i0, [n], 1, ...");
  }

  /// "-1e-05", "inf", "2:f16"
  Result<Written> number() {
    Written out;
    const size_t begin = at_;
    if (text_[at_] == '-') ++at_;
    const auto sign_of_exponent = [&] {
      return (text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
    };
    take_while([&] { return is_digit(text_[at_]) || is_letter(text_[at_]) || text_[at_] == '.' || sign_of_exponent(); });
    out.word = text_.substr(begin, at_ - begin);
    double value = 0;
    const auto [end, error] = std::from_chars(out.word.data(), out.word.data() + out.word.size(), value);
    if (error != std::errc{} || end != out.word.data() + out.word.size())
      return wrong_at(out, "a number is not well formed").expected("1, -0.5, 1e-05, inf or nan");
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      out.dtype = TRY(dtype());
    }
    return out;
  }

  Result<Written> leaf(std::string_view name) {
    Written out{.op = name[0] == 'x' ? ExprOp::input : ExprOp::axis, .word = name, .size = {}, .args = {}};
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), out.index);
    if (error != std::errc{}) return wrong_at(out, "a number of a load or an axis that is too large");
    if (out.op == ExprOp::axis) {
      out.natural = DType::i64;
      return out;
    }
    const auto k = static_cast<size_t>(out.index);
    if (k < types_.inputs.size()) out.dtype = types_.inputs[k];
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      out.dtype = TRY(dtype());
    }
    if (out.dtype == DType::none)
      return wrong_at(out, "a load that does not come before").advice("state its dtype where it is on purpose: x3:i64");
    out.natural = out.dtype;
    return out;
  }

  Result<Written> size() {
    Written out{.op = ExprOp::dim, .word = text_.substr(at_, 1), .natural = DType::i64, .size = {}, .args = {}};
    const size_t begin = ++at_;
    bool quoted = false;
    for (; at_ < text_.size() && (quoted || text_[at_] != ']'); ++at_) {
      if (text_[at_] == '"') quoted = !quoted;
      else if (quoted && text_[at_] == '\\') ++at_;
    }
    const auto parsed = at_ < text_.size() ? symbols_.parse(text_.substr(begin, at_ - begin)) : std::nullopt;
    if (!parsed)
      return wrong_at(out, "a size is not well formed").expected("a number, a symbol or a polynomial in brackets, such as [2*n + 1]");
    ++at_;
    out.size = *parsed;
    return out;
  }

  Result<Written> call(ExprOp op, std::string_view name) {
    Written out{.op = op, .word = name, .size = {}, .args = {}};
    for (size_t k = 0; k < operands_of(op); ++k) {
      if (!take(k == 0 ? '(' : ',')) return wrong(fmt::format("an operand of {} is missing", name)).expected(k == 0 ? "`(`" : "`,`");
      out.args.push_back(TRY(read()));
    }
    if (op == ExprOp::cast) {
      if (!take(',')) return wrong("the dtype of a cast is missing").expected("`,`");
      skip_blanks();
      out.dtype = TRY(dtype());
    }
    if (!take(')')) return wrong(fmt::format("the operands of {} have no end", name)).expected("`)`");
    out.natural = op == ExprOp::cast ? out.dtype : gives_bool(op) ? DType::boolean : shared_type(out);
    return out;
  }

  // --- types

  /// The dtype that typed operands determine for those operands of the operator that share one dtype.
  static DType shared_type(const Written& call) {
    for (size_t k = call.op == ExprOp::select ? 1 : 0; k < call.args.size(); ++k)
      if (call.args[k].natural != DType::none) return call.args[k].natural;
    return DType::none;
  }

  static DType operand_type(const Written& call, DType result) {
    if (takes_bools(call.op)) return DType::boolean;
    if (call.op == ExprOp::cast) return DType::none;
    const DType shared = shared_type(call);
    return shared != DType::none || gives_bool(call.op) ? shared : result;
  }

  Result<Expr> typed(const Written& e, DType result) {
    Expr out = TRY(made(e, result));
    if (result != DType::none && out.dtype() != result)
      return wrong_at(e, "an expression of another dtype").expected(std::string(name_of(result))).found(std::string(name_of(out.dtype())));
    return out;
  }

  Result<Expr> made(const Written& e, DType result) {
    if (e.op == ExprOp::constant) return constant(e, e.dtype != DType::none ? e.dtype : result);
    if (e.op == ExprOp::input) return Expr::input(e.index, e.dtype);
    if (e.op == ExprOp::axis) return Expr::axis(e.index);
    if (e.op == ExprOp::dim) return Expr::dim(e.size);
    const DType operands = operand_type(e, result);
    std::vector<Expr> args;
    for (size_t k = 0; k < e.args.size(); ++k) {
      const bool condition = e.op == ExprOp::select && k == 0;
      args.push_back(TRY(typed(e.args[k], condition ? DType::boolean : operands)));
    }
    if (args.size() == 2 && args[0].dtype() != args[1].dtype())
      return wrong_at(e, "operands of different dtypes")
          .found(fmt::format("{} and {}", name_of(args[0].dtype()), name_of(args[1].dtype())));
    const DType own = e.op == ExprOp::cast ? e.dtype : gives_bool(e.op) ? DType::boolean : args.back().dtype();
    if (is_bitwise(e.op) && is_float(own)) return wrong_at(e, "an operator on bits of a float").expected("integers or bools");
    return Expr::make(e.op, own, std::move(args));
  }

  static bool is_bitwise(ExprOp op) { return op == ExprOp::bit_not || (op >= ExprOp::bit_and && op <= ExprOp::shift_right); }

  Result<Expr> constant(const Written& e, DType dtype) {
    if (dtype == DType::none) return wrong_at(e, "a number whose dtype nothing determines").expected("its dtype behind it, such as 1:f32");
    if (!is_scalar(dtype)) return wrong_at(e, "a number of a dtype that has none").found(std::string(name_of(dtype)));
    if (dtype == DType::boolean) {
      if (e.word != "true" && e.word != "false") return wrong_at(e, "a number where a bool must be").expected("true or false");
      return Expr::integer(dtype, e.word == "true");
    }
    const char *begin = e.word.data(), *end = begin + e.word.size();
    if (is_float(dtype)) {
      double number = 0;
      std::from_chars(begin, end, number);
      return Expr::constant(dtype, number);
    }
    int64_t value = 0;
    uint64_t large = 0;
    const auto read = dtype == DType::u64 ? std::from_chars(begin, end, large) : std::from_chars(begin, end, value);
    if (dtype == DType::u64) value = static_cast<int64_t>(large);
    if (read.ec != std::errc{} || read.ptr != end || wrap_integer(dtype, value) != value)
      return wrong_at(e, fmt::format("a number that is no {}", name_of(dtype))).expected("an integer that fits");
    return Expr::integer(dtype, value);
  }

  std::string_view text_;
  size_t& at_;
  Symbols& symbols_;
  const ExprTypes& types_;
  int depth_ = 0;
};

}  // namespace

Result<Expr> parse_expr(std::string_view text, size_t& at, Symbols& symbols, const ExprTypes& types) {
  return ExprParser(text, at, symbols, types).run();
}

}  // namespace tenon::inline base
