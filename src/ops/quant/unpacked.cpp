// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/unpacked.h"

#include <vector>

#include "base/dtype.h"

namespace tenon::ops {

ir::ValueId unpacked(ir::Builder& build, ir::ValueId x, int64_t bits) {
  if (bits == 8 || !x) return x;
  const int64_t rank = build.graph().value(x).type.rank();
  std::vector<ir::ValueId> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const ir::ValueId distance = build.scalar(DType::u8, static_cast<double>(shift));
    const ir::ValueId down = shift == 0 ? x : build("BitShift", {x, distance}, {{"direction", std::string("RIGHT")}});
    const ir::ValueId part = build("BitwiseAnd", {down, build.scalar(DType::u8, static_cast<double>((1 << bits) - 1))});
    parts.push_back(build("Unsqueeze", {part, build.ints({rank})}));
  }
  std::vector<int64_t> shape(static_cast<size_t>(rank), 0);  // as in x
  shape.back() = -1;
  return build("Reshape", {build("Concat", std::move(parts), {{"axis", rank}}), build.ints(std::move(shape))});
}

}  // namespace tenon::ops
