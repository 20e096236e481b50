// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/kernel.h"
#include "ir/graph.h"
#include "runtime/program.h"

namespace tenon::program {

struct PlacedConstant {
  ir::ConstantRef constant;
  uint64_t offset = 0;
};

/// A program and what its engine must hold beside it.
struct Built {
  runtime::Program program;
  std::vector<codegen::TileKernel> kernels;  ///< distinct ones; Step::code counts them
  std::vector<PlacedConstant> weights;
  std::vector<std::string> opaque_ops;  ///< ops that run by reference, one a node
};

/// Numbers buffers, settles their lives, compiles sizes and shares equal kernels.
/// Needs: kernels[g] are those of plan.groups[g], in the order in which they run (none for groups without code).  Promises: every index in
/// the program is sound; equal inputs give equal programs. Errors: not_supported for a size that nothing gives. Cost: linear in steps and
/// buffers.
Result<Built> build(const ir::Graph& graph, const codegen::Plan& plan, std::vector<std::vector<codegen::Kernel>> kernels);

}  // namespace tenon::program
