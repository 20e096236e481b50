// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/plan/plan.h"
#include "ir/constant.h"

namespace tenon::codegen {

/// A constant of f32 whose elements along one axis are whole blocks of one format.
struct InBlocks {
  ir::ConstantRef bytes;  ///< u8: the constant's shape with blocks in place of elements along `axis`, and the bytes of a block last
  const BlockFormat* format = nullptr;
  int axis = 0;
};
/// nullopt where it has other steps than slices, permutes, concatenations and reshapes that leave blocks whole, or several formats.
/// Cost: its steps; no bytes are read.
std::optional<InBlocks> in_blocks(const ir::ConstantRef& constant);

/// That of panels of blocks with these scales (ContractGroup::scales); null of -1.
inline const BlockFormat* block_format_of(ArrayId scales, const Plan& plan) {
  return scales < 0 ? nullptr : std::get<ir::Constant::PackBlocks>(plan.arrays[scales].constant->source).format;
}

}  // namespace tenon::codegen
