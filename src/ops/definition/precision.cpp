// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/precision.h"

namespace tenon::ops {

ir::ValueId as_dtype(ir::Builder& build, ir::ValueId x, DType from, DType to) {
  return from == to ? x : build("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

std::vector<ir::ValueId> define_float_map(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in,
                                          const std::function<ir::ValueId(ir::ValueId x, DType dtype)>& body) {
  const DType dtype = view.type(0).dtype, wide = definition_dtype(dtype);
  return {as_dtype(build, body(as_dtype(build, in[0], dtype, wide), wide), wide, dtype)};
}

}  // namespace tenon::ops
