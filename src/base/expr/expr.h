// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dim/dim.h"
#include "base/dtype.h"

namespace tenon::inline base {

/// Operators of the scalar language. Floats follow IEEE 754; integers wrap; bool is 0 or 1.
enum class ExprOp : uint8_t {
  // leaves
  constant,  ///< `float_value` (floats) or `int_value` (integers, bool)
  input,     ///< what access number `index` of the loop loads
  axis,      ///< i64: the position on axis `index` of the loop
  dim,       ///< i64: the symbolic size `size`
  // one operand
  neg,
  abs,
  sign,
  floor,
  ceil,
  round_even,
  trunc,
  sqrt,
  reciprocal,
  exp,
  log,
  log1p,
  expm1,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  is_nan,
  is_inf,
  logical_not,
  bit_not,
  cast,  ///< to `dtype`; float to integer truncates, out of range is the nearest value that fits (NaN: 0); to bool is != 0
  // two operands of one dtype
  add,
  sub,
  mul,
  div,  ///< integers: truncates; by zero gives 0 (never a trap)
  mod,  ///< sign of the divisor; by zero gives 0
  rem,  ///< C's fmod and %: sign of the dividend; by zero gives 0 for integers
  pow,
  min,
  max,  ///< min and max give NaN where either operand is NaN
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  logical_and,
  logical_or,
  logical_xor,
  equal,
  less,
  less_equal,  ///< give bool
  // three operands
  select,  ///< condition (bool), then, otherwise
};

struct ExprNode;

/// An immutable scalar expression; sub-expressions are shared. A default-made Expr is null.
class Expr {
 public:
  Expr() = default;
  /// A number takes the dtype of the expression that it meets.
  Expr(double number);  // NOLINT
  Expr(int number);     // NOLINT
  static Expr constant(DType dtype, double number);
  static Expr integer(DType dtype, int64_t value);
  static Expr input(int index, DType dtype);
  static Expr axis(int index);
  static Expr dim(Dim size);
  static Expr make(ExprOp op, DType dtype, std::vector<Expr> args);

  explicit operator bool() const { return node_ != nullptr; }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode* get() const { return node_.get(); }
  DType dtype() const;
  ExprOp op() const;
  std::span<const Expr> args() const;
  /// "add(x0, mul(x1, 2))"
  std::string text() const;

 private:
  std::shared_ptr<const ExprNode> node_;
};

struct ExprNode {
  ExprOp op = ExprOp::constant;
  DType dtype = DType::f32;
  bool untyped = false;    ///< a bare number that has met no typed expression yet
  int32_t index = 0;       ///< input, axis
  double float_value = 0;  ///< value of a constant of a float dtype; 0 for integers and bool, whose value is `int_value`
  int64_t int_value = 0;   ///< value of a constant of an integer dtype or bool
  Dim size;                ///< dim
  std::vector<Expr> args;
  size_t hash = 0;  ///< of the whole expression
};

/// The operator's name in the text form: "add", "round_even", ...
std::string_view name_of(ExprOp op);
/// A constant that is 0 in its dtype (of floats also -0); false for null.
bool is_zero(const Expr& e);
/// Gives an untyped expression (a bare number, or an operator over bare numbers) its dtype; a typed one comes back as it is.
Expr with_dtype(const Expr& e, DType dtype);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
/// Named, since && and || on handles test whether they are null.
Expr logical_and(Expr a, Expr b);
Expr logical_or(Expr a, Expr b);
Expr logical_not(Expr a);
Expr equal(Expr a, Expr b);
Expr select(Expr condition, Expr then, Expr otherwise);
Expr cast(Expr a, DType dtype);
/// Any one- or two-operand operator by its enumerator; result dtype follows the operator (comparisons give bool).
Expr unary(ExprOp op, Expr a);
Expr binary(ExprOp op, Expr a, Expr b);
inline Expr exp(Expr a) { return unary(ExprOp::exp, a); }
inline Expr log(Expr a) { return unary(ExprOp::log, a); }
inline Expr log1p(Expr a) { return unary(ExprOp::log1p, a); }
inline Expr expm1(Expr a) { return unary(ExprOp::expm1, a); }
inline Expr sqrt(Expr a) { return unary(ExprOp::sqrt, a); }
inline Expr tanh(Expr a) { return unary(ExprOp::tanh, a); }
inline Expr erf(Expr a) { return unary(ExprOp::erf, a); }
inline Expr abs(Expr a) { return unary(ExprOp::abs, a); }
inline Expr max(Expr a, Expr b) { return binary(ExprOp::max, a, b); }
inline Expr min(Expr a, Expr b) { return binary(ExprOp::min, a, b); }

/// Rebuilds `e` bottom-up; `leaf` answers for input, axis and dim leaves (a null answer keeps the leaf).
Expr substitute(const Expr& e, const std::function<Expr(const ExprNode& leaf)>& leaf);
/// Folds constants and the integer identities (x*1, x+0, x*0, 0/x, nested sums of axis terms).
Expr simplify(const Expr& e);
/// The same where axis k lies in [0, extents[k]): settles comparisons, divisions and remainders of index expressions too.
/// Takes no extent to be 0 (with one that is, nothing is evaluated).
Expr simplify(const Expr& e, std::span<const Dim> extents);
/// Structural equality and hash.
bool same(const Expr& a, const Expr& b);
size_t hash_of(const Expr& e);

/// Evaluates in fp64 (floats), int64 (integers); each intermediate float result of dtype f32, f16 or bf16 is rounded to
/// its dtype when `round` is set. The scalar oracle of all code generators.
struct ScalarEnvironment {
  std::function<double(int input)> input_number;
  std::function<int64_t(int input)> input_integer;
  std::function<int64_t(int axis)> axis;
  std::function<int64_t(Dim size)> dim;
};
struct Scalar {
  double number = 0;
  int64_t integer = 0;
};
Scalar evaluate(const Expr& e, const ScalarEnvironment& env, bool round);

/// An index expression as coefficient * axis + ... + offset, coefficients free of axes; nullopt where it is not affine
/// (floor division, remainder of axes, an indirect load). `axes`: how many axes the loop has.
struct Affine {
  std::vector<Dim> coefficients;
  Dim offset = 0;
};
std::optional<Affine> affine_of(const Expr& index, int axes);

}  // namespace tenon::inline base
