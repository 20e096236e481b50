// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "base/dtype.h"
#include "codegen/llvm/emit.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen::machine {

using Builder = llvm::IRBuilder<>;

/// An LLVM value (scalar or vector) with operators, so that formulas read as formulas. Integer operators wrap; float operators round
/// once each, nothing is contracted or reassociated.
struct V {
  Builder* b = nullptr;
  llvm::Value* v = nullptr;

  llvm::Type* type() const { return v->getType(); }
  bool real() const { return v->getType()->isFPOrFPVectorTy(); }
  int lanes() const;
  int width() const { return static_cast<int>(v->getType()->getScalarSizeInBits()); }
  V with(llvm::Value* value) const { return {b, value}; }
  /// A constant of this value's type with the number in all lanes.
  V splat(double number) const;
  V splat_integer(int64_t number) const;
};

V operator+(V a, V b);
V operator-(V a, V b);
V operator*(V a, V b);
V operator/(V a, V b);  ///< floats only
V operator-(V a);
V operator+(V a, double c);
V operator-(V a, double c);
V operator-(double c, V a);
V operator*(V a, double c);
V operator&(V a, V b);
V operator|(V a, V b);
V operator^(V a, V b);
V operator&(V a, int64_t c);
V operator|(V a, int64_t c);
V operator<<(V a, int64_t by);
V shift_right(V a, int64_t by);  ///< logical
V shift_right_signed(V a, int64_t by);
V operator!(V mask);
V less(V a, V b);  ///< ordered; signed for integers
V less(V a, double c);
V greater(V a, double c);
V equal(V a, V b);
V equal(V a, double c);
V is_nan(V a);
V select(V condition, V then, V otherwise);
V select(V condition, double then, V otherwise);
V fma(V a, V b, V c);
V fma(V a, V b, double c);
V abs(V a);
V copy_sign(V magnitude, V sign);
V sqrt(V a);
V round_even(V a);
V trunc(V a);
V floor(V a);
V to_bits(V a);    ///< float to integer of the same width, bits kept
V from_bits(V a);  ///< and back
V to_f32(V a);     ///< rounds or widens
V to_f64(V a);
V to_int(V a, int width);  ///< truncates; the caller guarantees that it fits
V to_float(V integer);     ///< to the float of the same width
/// c[0] + x*(c[1] + x*(...)), one fma a coefficient.
V polynomial(V x, std::initializer_list<double> c);
/// True where any lane of the mask is set (a scalar i1).
V any(V mask);
/// Lanes [begin, begin + count).
V slice(V a, int begin, int count);
V concat(V a, V b);

/// The LLVM type of a register. f16, bf16 and f8e4m3fn are represented by their bits (i16, i8), masks as i1.
llvm::Type* element_type(llvm::LLVMContext& context, DType dtype);
llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype);
llvm::Type* with_lanes(llvm::Type* element, int lanes);
inline llvm::Type* register_type(llvm::LLVMContext& context, TileType t) { return with_lanes(element_type(context, t.element), t.lanes); }

/// f16/bf16 bits to f32, exact; and back, rounding to nearest even (f64 sources round once).
V widen_half(DType dtype, V bits);
V round_half(DType dtype, V number);
/// The same of f8e4m3fn. Numbers above 448, the largest, become 448.
V widen_f8(V bits);
V round_f8(V number);

/// One operator of the scalar language on whole registers; semantics of base/expr/expr.h. Null where a float function has no emission for
/// this dtype.
V emit_operator(const Target& target, ExprOp op, DType operand, DType result, llvm::ArrayRef<V> args);
V emit_cast(V value, DType from, DType to);
V emit_combine(const Target& target, ops::Combine how, DType dtype, V a, V b);
/// The same function on f32 or f64 registers.
V emit_function(const Target& target, ExprOp op, V x);
V emit_pow(const Target& target, V x, V y);
/// C's fmod, exact, by long division of the mantissas: one step for each bit that the exponents differ.
V emit_fmod(V x, V y);

}  // namespace tenon::codegen::machine
