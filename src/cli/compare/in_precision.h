// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/judge.h"
#include "codegen/precision.h"
#include "ir/graph.h"

namespace tenon::cli {

/// What a build rounds operands of products to.
struct ProductRounding {
  codegen::Precision precision = codegen::Precision::f32;
  codegen::Activations activations = codegen::Activations::f32;

  bool rounds() const { return precision != codegen::Precision::f32 || activations != codegen::Activations::f32; }
};

/// The least tolerance of results (the argument `least` of distance()): that of bf16 where operands are rounded.
inline Tolerance bound_of(const ProductRounding& rounding) { return rounding.rounds() ? tolerance_of(DType::bf16) : Tolerance{}; }

/// A copy of the graph that rounds these operands. Precision bf16: both operands of products with constants (MatMul, Gemm, Conv, also where
/// the compiler leaves small ones alone). Activations: the operand beside a matrix in blocks, and with bf16 the matrix too. Values keep
/// their ids. Errors: those of inference.
Result<std::unique_ptr<ir::Graph>> in_precision(const ir::Graph& graph, const ProductRounding& rounding);

/// Whether a node, of a body too, rounds floats to integers of 8 bits or fewer: small differences may then change an integer.
bool rounds_to_bytes(const ir::Graph& graph);

}  // namespace tenon::cli
