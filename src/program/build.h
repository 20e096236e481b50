// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "codegen/lower/kernel.h"
#include "ir/graph.h"
#include "runtime/program_table.h"

namespace tenon::program {

struct PlacedConstant {
  ir::ConstantRef constant;
  uint64_t offset = 0;
  bool looked_up = false;  ///< a table of which a run reads few rows
};

/// What the steps of a program come from.
struct StepOrigins {
  std::vector<uint32_t> group_of_step;      ///< which group of the plan each step is part of
  std::vector<codegen::Work> work_of_step;  ///< what its kernel does; nothing where it has none
};

/// Programs and what else their engine must hold.
struct Built {
  runtime::ProgramTable programs;
  std::vector<codegen::TileKernel> kernels;  ///< distinct ones; KernelStep::kernel counts them
  std::vector<std::string> tactics;          ///< of each kernel, as text
  std::vector<PlacedConstant> weights;
  /// Ops that backends without kernels run, one a node: the backend, the op.
  std::vector<std::pair<std::string, std::string>> ops_of_devices;
  std::vector<StepOrigins> origins;  ///< of each entry's steps, in the order of the entries
  std::vector<Dim> outer;            ///< of the first program: sizes that it reads from around it, in the order of its `outer` lines
};

/// What backends made of a graph and of the bodies of its branches and loops.
struct Lowered {
  const ir::Graph* graph = nullptr;
  backend::Kernels kernels;
  std::vector<backend::Blob> blobs;                             ///< one a segment of the plan
  std::unordered_map<ir::NodeId, std::vector<Lowered>> bodies;  ///< of the nodes of control groups
  /// A segment of a kernel backend: an operand's size may be an expression of symbols that no operand gives by itself.
  bool is_segment = false;
};

/// What one program of the table is made from.
struct LoweredProgram {
  std::string name = {};  ///< of an entry
  runtime::Role role = runtime::Role::entry;
  runtime::Condition condition = runtime::Condition::none;
  uint32_t entry = 0;  ///< fallback: which of the entries it is for
  Lowered lowered = {};
};

/// Links artifacts to programs: numbers buffers, settles their lives, compiles sizes, shares equal kernels and weights. Entries come first,
/// then fallbacks, then inner graphs, these by the numbers of backend::InnerGraph. A fallback for sizes out of range that is equal to its
/// entry but for the ranges takes its place. Promises: every index in the programs is in range; equal inputs give equal programs. Errors:
/// not_supported for a size that nothing gives. Cost: linear in steps and buffers.
Result<Built> build(std::vector<LoweredProgram> programs);
/// Of one entry, "main".
Result<Built> build(Lowered lowered);

}  // namespace tenon::program
