// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/judge.h"
#include "codegen/precision.h"
#include "ir/graph.h"

namespace tenon::cli {

/// The least tolerance of results in that precision (the argument `least` of distance()).
inline Tolerance bound_of(codegen::Precision precision) {
  return precision == codegen::Precision::bf16 ? tolerance_of(DType::bf16) : Tolerance{};
}

/// A copy of the graph that computes in that precision: for bf16, both operands of products with constants are rounded
/// (MatMul, Gemm, Conv, also where the compiler leaves small ones alone). Values keep their ids. Errors: those of inference.
Result<std::unique_ptr<ir::Graph>> in_precision(const ir::Graph& graph, codegen::Precision precision);

/// Whether a node, of a body too, rounds floats to integers of 8 bits or fewer: small differences may then change an integer.
bool rounds_to_bytes(const ir::Graph& graph);

}  // namespace tenon::cli
