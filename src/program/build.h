// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>
#include <vector>

#include "codegen/lower/kernel.h"
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
  std::vector<std::string> tactics;          ///< of each kernel, as text
  std::vector<PlacedConstant> weights;
  std::vector<std::string> opaque_ops;  ///< ops that run by reference, one a node
  std::vector<uint32_t> group_of_step;  ///< of the outermost program: which group of the plan each step is part of
};

/// A graph planned and lowered, with the bodies of its branches and loops.
struct Lowered {
  const ir::Graph* graph = nullptr;
  codegen::Plan plan;
  std::vector<std::vector<codegen::Kernel>> kernels;            ///< of each group, in the order in which they run; none without code
  std::unordered_map<ir::NodeId, std::vector<Lowered>> bodies;  ///< of the nodes of control groups
};

/// What the runtime is told of a value that is no tensor.
runtime::Held held_of(const ir::Type& type);

/// Numbers buffers, settles their lives, compiles sizes and shares equal kernels.
/// Promises: every index in the program is sound; equal inputs give equal programs. Errors: not_supported for a size that nothing gives.
/// Cost: linear in steps and buffers.
Result<Built> build(Lowered lowered);

}  // namespace tenon::program
