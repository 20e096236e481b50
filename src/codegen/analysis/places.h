// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Flat element number of an access or output in its array's strides, with loaded indices clamped to the array.
Expr flat_of(const NestAccess& access, const Plan& plan);
Expr flat_of(const NestOutput& output, const Plan& plan);
/// An access of an epilogue.
struct EpilogueRead {
  Affine place;
  Expr loaded;      ///< what single numbers that the epilogue loads too add to the place (a row by the number of the step); null: nothing
  int column = -1;  ///< of the sum itself, that it reads; -1: it reads something else
};
/// Where an epilogue reads and writes, over the axes of the sum that it finishes; of one with columns the lanes count within a column.
struct EpiloguePlaces {
  std::vector<EpilogueRead> reads;
  std::vector<Affine> results;
};
/// nullopt where it is more than loads at affine places.
std::optional<EpiloguePlaces> epilogue_places(const Epilogue& epilogue, const Nest& sum, const Plan& plan);
/// Joins neighbouring parallel axes that every access and output walks as one, from axis `from` on. Cost: accesses x axes.
void collapse(Nest& nest, const Plan& plan, int from = 0);

}  // namespace tenon::codegen
