// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/depth_blocks.h"

namespace tenon::codegen {

namespace {

/// The size of a block along one axis is a multiple of this.
constexpr int64_t kBlockMultiple = 8;

bool has_known_extents(const std::vector<JointAxis>& depth) {
  for (const JointAxis& a : depth)
    if (!a.extent.is_number()) return false;
  return !depth.empty();
}

}  // namespace

DepthBlocks depth_blocks(const std::vector<JointAxis>& depth, int64_t products) {
  DepthBlocks out;
  if (products == 0 || !has_known_extents(depth)) return out;
  // A block that is half as large again costs less than another pass over the sums.
  const int64_t most = products + products / 2;
  int64_t size = 1;
  size_t first = depth.size();
  while (first > 0 && size * depth[first - 1].extent.value() <= most) size *= depth[--first].extent.value();
  out.outer = first;
  if (first < depth.size()) return out;
  const int64_t extent = depth.back().extent.value(), blocks = (extent + products - 1) / products;
  out.outer = first - 1;
  out.inner = ((extent + blocks - 1) / blocks + kBlockMultiple - 1) / kBlockMultiple * kBlockMultiple;
  return out;
}

}  // namespace tenon::codegen
