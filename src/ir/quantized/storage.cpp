// SPDX-License-Identifier: Apache-2.0
#include "ir/quantized/storage.h"

#include <algorithm>

namespace tenon::ir {

Storage storage_of(const Constant& c) {
  if (const auto* step = std::get_if<Constant::Blocks>(&c.source)) return {.blocks = step->format, .dtype = c.dtype};
  if (const auto* step = std::get_if<Constant::Cast>(&c.source)) return {.dtype = step->operand->dtype};
  if (const auto* step = std::get_if<Constant::Slice>(&c.source)) return storage_of(*step->operand);
  if (const auto* step = std::get_if<Constant::Permute>(&c.source)) return storage_of(*step->operand);
  if (const auto* step = std::get_if<Constant::Reshape>(&c.source)) return storage_of(*step->operand);
  if (const auto* step = std::get_if<Constant::Concat>(&c.source)) {
    const Storage first = storage_of(*step->operand[0]);
    if (std::ranges::all_of(step->operand, [&](const ConstantRef& part) { return storage_of(*part) == first; })) return first;
  }
  return {.dtype = c.dtype};
}

}  // namespace tenon::ir
