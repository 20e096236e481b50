// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "codegen/lower/kernel.h"
#include "ir/graph.h"
#include "runtime/program.h"

namespace tenon::program {

struct PlacedConstant {
  ir::ConstantRef constant;
  uint64_t offset = 0;
  bool looked_up = false;  ///< a table of which a run reads few rows
};

/// A program and what its engine must hold beside it.
struct Built {
  runtime::Program program;
  std::vector<codegen::TileKernel> kernels;  ///< distinct ones; Step::code counts them
  std::vector<std::string> tactics;          ///< of each kernel, as text
  std::vector<PlacedConstant> weights;
  /// Ops that backends without kernels run, one a node: the backend, the op.
  std::vector<std::pair<std::string, std::string>> ops_of_devices;
  std::vector<uint32_t> group_of_step;      ///< of the outermost program: which group of the plan each step is part of
  std::vector<codegen::Work> work_of_step;  ///< likewise: what its kernel does; nothing where it has none
};

/// What backends made of a graph and of the bodies of its branches and loops.
struct Lowered {
  const ir::Graph* graph = nullptr;
  backend::Kernels kernels;
  std::vector<backend::Blob> blobs;                             ///< one a segment of the plan
  std::unordered_map<ir::NodeId, std::vector<Lowered>> bodies;  ///< of the nodes of control groups
};

/// What stands beside a program and uses its code and weights where they are equal.
struct Others {
  std::optional<Lowered> behind = std::nullopt;       ///< runtime::Program::behind; alone left where it is the same program, for all sizes
  std::vector<Lowered> inner = {};                    ///< runtime::Program::inner, by the numbers of backend::InnerGraph
  std::optional<Lowered> instead = std::nullopt;      ///< runtime::Program::instead
  std::optional<Lowered> overridable = std::nullopt;  ///< runtime::Program::overridable
};

/// Stitches artifacts into one program: numbers buffers, settles their lives, compiles sizes, shares equal kernels and weights.
/// Promises: every index in the program is sound; equal inputs give equal programs. Errors: not_supported for a size that nothing gives.
/// Cost: linear in steps and buffers.
Result<Built> build(Lowered lowered, Others others = {});

}  // namespace tenon::program
