// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/judge.h"
#include "codegen/precision.h"
#include "ir/graph.h"

namespace tenon::cli {

/// What results in that precision may differ at least, see tolerance_of.
inline Tolerance bound_of(codegen::Precision precision) {
  return precision == codegen::Precision::bf16 ? tolerance_of(DType::bf16) : Tolerance{};
}

/// A copy of the graph whose values are what that precision makes of them: in bf16, both operands of products with constants are rounded
/// (MatMul, Gemm, Conv, also where the compiler leaves small ones alone). Values keep their ids. Errors: those of inference.
Result<std::unique_ptr<ir::Graph>> in_precision(const ir::Graph& graph, codegen::Precision precision);

/// Whether a node, also of a body, makes integers of 8 bits or fewer of floats: a value near a tie may then fall either way.
bool rounds_to_bytes(const ir::Graph& graph);

}  // namespace tenon::cli
