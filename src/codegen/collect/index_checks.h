// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// An array whose elements are places in a dimension of that extent, and how the nest reads it.
struct LoadedIndex {
  NestAccess from;     ///< the load of the index; where it is one component of a row (GatherND), that dimension is a number
  ArrayId array = -1;  ///< behind all reshapes
  bool whole = true;   ///< every element of the array is such a place
  Dim extent;
  bool from_end = false;  ///< negative ones count from the end
};

/// The loaded indices of a nest: `x[k]` where k itself was loaded, and the loop's `places`. Indices that a loop computes further, or that
/// an `within` keeps in bounds, are not among them.
std::vector<LoadedIndex> loaded_indices(const Nest& nest, std::span<const ops::Place> places, const Plan& plan);

/// A nest that gives the smallest and the largest of these indices; both become new arrays of the plan, i64[].
Nest range_of(const LoadedIndex& index, Plan& plan);

}  // namespace tenon::codegen
