// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/analysis/contraction.h"

namespace tenon::codegen {

/// How lanes stand in panels: as they are numbered, or register by register of so many equal columns in alternation.
struct LaneOrder {
  int64_t panel = 1;
  int columns = 1;
  int lanes = 1;  ///< of a register; divides a column
};

/// The lanes operand of a contraction rearranged as [batch..., ceil(N/panel), depth..., panel], zeros beyond N: a lazy constant where it is
/// one, else a new array, and a nest that fills it is appended to `copies`. The depth axes stand in the order of roles.depth. With groups
/// the last of them is [ceil(K/group), panel, group], zeros beyond K: a group of the rows operand never crosses into the next run.
ArrayId pack_operand(const Nest& nest, const Contraction& roles, const LaneOrder& order, Plan& plan, std::vector<Nest>& copies);

}  // namespace tenon::codegen
