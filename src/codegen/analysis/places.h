// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

// A place is the number in memory, in elements, that an access or output has at a step of its nest; where it is affine in the axes, an
// Affine.

/// The place of an access or output, by the strides of its array. Loaded indices are clamped to the array.
Expr flat_of(const NestAccess& access, const Plan& plan);
Expr flat_of(const NestOutput& output, const Plan& plan);
/// An access of an epilogue, over the axes of the sum that the epilogue finishes.
struct EpilogueRead {
  Affine place;
  Expr loaded;      ///< offset to add to the place, an expression over scalars that the epilogue loads; null: 0
  int column = -1;  ///< it reads this column of the sum (0 where there are none); -1: it reads another array
};
/// Where an epilogue reads and writes, over the axes of the sum that it finishes. With columns, the lanes are numbered within a column.
struct EpiloguePlaces {
  std::vector<EpilogueRead> reads;
  std::vector<Affine> results;
};
/// nullopt where some place is not affine.
std::optional<EpiloguePlaces> epilogue_places(const Epilogue& epilogue, const Nest& sum, const Plan& plan);
/// Joins neighbouring parallel axes, from axis `from` on, where in each place a step of the outer is as long as all steps of the inner
/// together. Cost: accesses times axes.
void collapse(Nest& nest, const Plan& plan, int from = 0);

}  // namespace tenon::codegen
