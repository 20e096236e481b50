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

/// A constant and its place among the weights of an engine.
struct PlacedConstant {
  ir::ConstantRef constant;
  uint64_t offset = 0;           ///< in bytes
  bool is_lookup_table = false;  ///< a run reads few rows of it (an embedding table)
};

/// Which part of the plan each step of a program was made from.
struct StepOrigins {
  std::vector<uint32_t> group_of_step;      ///< number in Plan::groups, by step
  std::vector<codegen::Work> work_of_step;  ///< work of its kernel, by step; empty for a step without a kernel
};

/// The programs of an engine, and the kernels and weights that they refer to.
struct LinkedPrograms {
  runtime::ProgramTable programs;
  std::vector<codegen::TileKernel> kernels;  ///< distinct ones; KernelStep::kernel is an index into them
  std::vector<std::string> tactics;          ///< of each kernel, as text
  std::vector<PlacedConstant> weights;
  /// (backend, op) of each node that another backend than the host runs.
  std::vector<std::pair<std::string, std::string>> device_ops;
  std::vector<StepOrigins> origins;  ///< one for each entry, in the order of the entries
  std::vector<Dim> outer;            ///< of the first program: sizes of the program around it, in the order of its `outer` lines
};

/// A graph with its plan and kernels, the blobs of its segments, and the same of the bodies of its branches and loops.
struct LoweredGraph {
  const ir::Graph* graph = nullptr;
  backend::Kernels kernels;
  std::vector<backend::Blob> blobs;                                  ///< one a segment of the plan
  std::unordered_map<ir::NodeId, std::vector<LoweredGraph>> bodies;  ///< by the node of a branch or loop
  /// The graph is a segment of a kernel backend. Then a dimension of an input may be an expression whose symbols are no dimension of any
  /// input.
  bool is_segment = false;
};

/// One row of the table of programs, before it is linked.
struct LoweredProgram {
  std::string name = {};  ///< of an entry; empty for others
  runtime::Role role = runtime::Role::entry;
  runtime::Condition condition = runtime::Condition::none;
  uint32_t entry = 0;  ///< of a fallback: number of the entry that it replaces
  LoweredGraph lowered = {};
};

/// Links lowered graphs to programs: numbers buffers, computes their lives, compiles sizes, stores equal kernels and weights once. Entries
/// come first, then fallbacks, then inner graphs, these by the numbers of backend::InnerGraph. A fallback for sizes out of range that is
/// equal to its entry but for the ranges takes its place. Promises: every index in the programs is in range; equal inputs give equal
/// programs. Errors: not_supported for a size without an origin. Cost: linear in steps and buffers.
Result<LinkedPrograms> build(std::vector<LoweredProgram> programs);
/// The same for one graph, as the entry "main".
Result<LinkedPrograms> build(LoweredGraph lowered);

}  // namespace tenon::program
