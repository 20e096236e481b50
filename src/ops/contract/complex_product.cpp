// SPDX-License-Identifier: Apache-2.0
#include "ops/contract/complex_product.h"

namespace tenon::ops {

using ir::ValueId;

ValueId complex_product(ir::Builder& build, ValueId a, ValueId b, bool conjugate) {
  const auto part = [&](ValueId x, int64_t which) { return build("Gather", {x, build.ints({which})}, {{"axis", int64_t{-1}}}); };
  const ValueId ar = part(a, 0), ai = part(a, 1), br = part(b, 0), bi = part(b, 1);
  const auto times = [&](ValueId x, ValueId y) { return build("Mul", {x, y}); };
  const ValueId real = build(conjugate ? "Add" : "Sub", {times(ar, br), times(ai, bi)});
  const ValueId imaginary = conjugate ? build("Sub", {times(ai, br), times(ar, bi)}) : build("Add", {times(ar, bi), times(ai, br)});
  return build("Concat", {real, imaginary}, {{"axis", int64_t{-1}}});
}

}  // namespace tenon::ops
