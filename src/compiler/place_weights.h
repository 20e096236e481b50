// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "program/build.h"

namespace tenon::compiler {

struct PlacedWeights {
  std::span<const std::byte> bytes;    ///< ProgramTable::weight_bytes, then kSlack
  std::shared_ptr<const void> keeper;  ///< of the bytes
};

/// All weights where the program expects them, in memory of this process. A large table of which runs read few rows lies in a file that
/// nobody else can change (files::map_anonymous_file), so that the rows alone take memory; not so where there can be no such file. By all
/// threads, one pass over the bytes; the model's own file need not be in memory afterwards. Errors: out_of_memory; those of
/// ir::materialise_into.
Result<PlacedWeights> place_weights(const program::LinkedPrograms& built);

}  // namespace tenon::compiler
