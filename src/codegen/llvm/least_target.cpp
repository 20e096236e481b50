// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "codegen/llvm/emit.h"

namespace tenon::codegen {

namespace {

bool multiplies(const Target& target, DType dtype) {
  return std::ranges::any_of(target.multiply_adds, [&](const MultiplyAdd& m) { return m.operand == dtype || m.along == dtype; });
}

/// Whether a kernel reads or writes a type for which only `target` has instructions, not what it extends.
bool has_types_of(std::span<const TileKernel> kernels, const Target& target) {
  const auto is_its_own = [&](const Buffer& b) { return multiplies(target, b.dtype) && !multiplies(*target.extends, b.dtype); };
  return std::ranges::any_of(kernels, [&](const TileKernel& k) { return std::ranges::any_of(k.buffers, is_its_own); });
}

}  // namespace

const Target& least_target(std::span<const TileKernel> kernels, const Target& target) {
  const Target* least = &target;
  while (least->extends && !has_types_of(kernels, *least)) least = least->extends;
  return *least;
}

}  // namespace tenon::codegen
