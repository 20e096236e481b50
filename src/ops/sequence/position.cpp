// SPDX-License-Identifier: Apache-2.0
#include "ops/sequence/position.h"

#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"
#include "ops/infer/require.h"

namespace tenon::ops {

Result<void> require_position(const NodeView& view, size_t input) {
  TRY(require_tensor(view, input));
  TRY(require_dtype(view, input, is_index, "i32 or i64"));
  TRY(require_rank(view, input, 0, 1));
  if (!view.has(input) || !view.type(input).has_rank()) return {};
  return require_equal(view, view.type(input).count(), 1, "elements of the position and 1");
}

Result<int64_t> position_of(const Call& call, size_t input, int64_t length, int64_t most) {
  if (call.in[input]->count() != 1) return refuse(call.view, Code::bad_input, "the position is not one number");
  const int64_t given = call.in[input]->integer(0), at = given < 0 ? given + length : given;
  if (at >= 0 && at <= most) return at;
  return refuse(call.view, Code::index_out_of_range, "the position lies outside the sequence")
      .expected(std::to_string(-length) + " .. " + std::to_string(most) + " in a sequence of " + std::to_string(length))
      .found(std::to_string(given));
}

}  // namespace tenon::ops
