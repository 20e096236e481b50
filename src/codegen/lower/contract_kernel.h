// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/contract_tiling.h"
#include "codegen/lower/kernel.h"

namespace tenon::codegen {

/// The kernel of a contraction whose rows operand is a plain load and whose lanes operand is packed. A task takes `tactic.split` tiles of
/// rows through `tactic.panels` panels. Where the depth is cut, a slice of a panel stays in the first-level cache while the rows pass, the
/// sums wait in scratch memory between slices, and the epilogue runs behind the last one (Goto and van de Geijn, "Anatomy of
/// high-performance matrix multiplication", 2008). Where the epilogue reads several columns, registers of the panels belong to them by
/// turns (pack_operand), and it runs once a bundle of panels that holds whole turns is done.
Result<Kernel> lower_tiles(const Group& group, const Tiling& tiling, ArrayId packed, const ContractTactic& tactic, const Plan& plan,
                           const Target& target);

}  // namespace tenon::codegen
