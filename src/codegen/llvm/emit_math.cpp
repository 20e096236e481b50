// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/math.h"

namespace tenon::codegen::machine {
namespace {

V wide_function(ExprOp op, V x) {
  switch (op) {
    case ExprOp::exp: return f64::exp(x);
    case ExprOp::log: return f64::log(x);
    case ExprOp::log1p: return f64::log1p(x);
    case ExprOp::expm1: return f64::expm1(x);
    case ExprOp::sin: return f64::sin(x);
    case ExprOp::cos: return f64::cos(x);
    case ExprOp::tan: return f64::tan(x);
    case ExprOp::asin: return f64::asin(x);
    case ExprOp::acos: return f64::acos(x);
    case ExprOp::atan: return f64::atan(x);
    case ExprOp::sinh: return f64::sinh(x);
    case ExprOp::cosh: return f64::cosh(x);
    case ExprOp::tanh: return f64::tanh(x);
    case ExprOp::asinh: return f64::asinh(x);
    case ExprOp::acosh: return f64::acosh(x);
    case ExprOp::atanh: return f64::atanh(x);
    case ExprOp::erf: return f64::erf(x);
    default: return {x.b, nullptr};
  }
}

}  // namespace

V emit_function(const Target& target, ExprOp op, V x) {
  if (x.width() == 64) return wide_function(op, x);
  switch (op) {
    case ExprOp::exp: return f32::exp(target, x);
    case ExprOp::tanh: return f32::tanh(target, x);
    case ExprOp::erf: return f32::erf(target, x);
    default: break;
  }
  const V y = wide_function(op, to_f64(x));
  return y.v ? to_f32(y) : y;
}

V emit_pow(const Target&, V x, V y) {
  if (x.width() == 64) return f64::pow(x, y);
  return to_f32(f64::pow_for_f32(to_f64(x), to_f64(y)));
}

}  // namespace tenon::codegen::machine
