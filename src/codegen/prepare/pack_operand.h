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

/// A constant in blocks, as kernels read it: see ir::Constant::PackBlocks.
struct PackedBlocks {
  ArrayId codes = -1, scales = -1;
};
/// Of bytes [K / elements, N, bytes of a block].
PackedBlocks add_packed_blocks(const ir::ConstantRef& bytes, const BlockFormat& format, int64_t panel, Plan& plan);
/// The lanes operand of a contraction in blocks in panels, zeros beyond N. nullopt where the nest does not walk all of it densely.
std::optional<PackedBlocks> pack_blocks(const Nest& nest, const Contraction& roles, const LaneOrder& order, Plan& plan);

/// The lanes operand of a contraction rearranged as [batch..., ceil(N/panel), depth..., panel], zeros beyond N: a lazy constant where it is
/// one, else a new array, and a nest that fills it is appended to `copies`. The depth axes stand in the order of roles.depth. With groups
/// the last of them is [ceil(K/group), panel, group], zeros beyond K: a group of the rows operand never crosses into the next run.
ArrayId pack_operand(const Nest& nest, const Contraction& roles, const LaneOrder& order, Plan& plan, std::vector<Nest>& copies);

}  // namespace tenon::codegen
