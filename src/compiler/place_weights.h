// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "program/build.h"

namespace tenon::compiler {

/// The weights of an engine in memory.
struct PlacedWeights {
  std::span<const std::byte> bytes;    ///< ProgramTable::weight_bytes bytes of weights, then kSlack bytes of padding
  std::shared_ptr<const void> keeper;  ///< owns the memory
};

/// Materialises all weights in memory, at the offsets of the program. A large table of which a run reads few rows is placed in an anonymous
/// file (files::map_anonymous_file) where the system has these, so that only the rows that are read take memory. Runs on all threads, one
/// pass over the bytes; pages of the model's file are released. Errors: out_of_memory; those of ir::materialise_into.
Result<PlacedWeights> place_weights(const program::LinkedPrograms& built);

}  // namespace tenon::compiler
