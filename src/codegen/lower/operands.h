// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/analysis/contraction.h"
#include "codegen/analysis/padding.h"
#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// Constants that the vector axis walks in larger steps than 1 are stored with that axis innermost (the weights of a depthwise
/// convolution).
void transpose_constants(Nest& nest, int vector_axis, Plan& plan);

/// How lanes stand in panels: as they are numbered, or register by register of so many equal columns in alternation.
struct LaneOrder {
  int64_t panel = 1;
  int columns = 1;
  int lanes = 1;  ///< of a register; divides a column
};

/// The lanes operand rearranged as [batch..., ceil(N/panel), depth..., panel], zeros beyond N: a lazy constant where it is one, else a
/// new array and a nest that fills it. The depth axes stand in the order of roles.depth. With groups the last of them is
/// [ceil(K/group), panel, group], zeros beyond K: a group of the rows operand never crosses into the next run.
Result<ArrayId> pack_operand(const Nest& nest, const Contraction& roles, const LaneOrder& order, Plan& plan, std::vector<Nest>& before);

/// Where the rows operand is more than a load: stores it first, and lets the nest read it there; the array that it is made of, or, where it
/// is made of several, its elements as [batch..., rows..., depth...].
void store_rows_operand(Nest& nest, const Contraction& roles, Plan& plan, std::vector<Nest>& before);
/// Its elements as [batch..., rows..., depth...] in any case.
void store_rows_in_order(Nest& nest, const Contraction& roles, Plan& plan, std::vector<Nest>& before);

/// Copies an operand into a row-major array over these axes of the nest, the last one (of a known extent) padded to whole registers.
ArrayId copy_operand(Nest& nest, int operand, std::vector<int> axes, int64_t lanes, Plan& plan, std::vector<Nest>& before);

}  // namespace tenon::codegen
