// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// An integer array whose elements are indices into a dimension, and the load by which a nest uses it.
struct LoadedIndex {
  NestAccess load;           ///< of the index; where the index is one component of a row (GatherND), that dimension's index is a number
  ArrayId array = -1;        ///< the array, before all reshapes
  bool covers_array = true;  ///< every element of the array is such an index
  Dim extent;                ///< of the dimension: indices are below it
  bool from_end = false;     ///< negative indices count from the end
};

/// The loaded indices of a nest: k in `x[k]` where k is loaded, and the loop's `places` (ops::IndexCheck). Left out are indices that are
/// computed from loads, and those that a `within` keeps in range.
std::vector<LoadedIndex> loaded_indices(const Nest& nest, std::span<const ops::IndexCheck> places, const Plan& plan);

/// A nest that computes the smallest and the largest of these indices into two new arrays of the plan, i64[].
Nest index_range_nest(const LoadedIndex& index, Plan& plan);

}  // namespace tenon::codegen
