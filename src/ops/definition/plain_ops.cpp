// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/plain_ops.h"

#include "ops/infer/types.h"

namespace tenon::ops {

using ir::Ints;
using ir::ValueId;

namespace {
/// null: no constant, or one that nothing can be computed from.
ir::ConstantRef constant_in(ir::Builder& build, ValueId x) {
  const ir::ConstantRef c = x ? build.graph().value(x).constant : nullptr;
  return c && !c->unread() ? c : nullptr;
}
}  // namespace

ValueId sliced(ir::Builder& build, ValueId x, int axis, int64_t begin, int64_t end) {
  const auto c = constant_in(build, x);
  const int64_t size = c && axis < static_cast<int>(c->shape.size()) ? c->shape[static_cast<size_t>(axis)] : -1;
  if (begin >= 0 && begin <= end && end <= size) return build.constant(ir::slice(c, axis, begin, end));
  return build("Slice", {x, build.ints({begin}), build.ints({end}), build.ints({axis})});
}

ValueId squeezed(ir::Builder& build, ValueId x, int axis) {
  if (const auto c = constant_in(build, x); c && axis < static_cast<int>(c->shape.size()) && c->shape[static_cast<size_t>(axis)] == 1) {
    Sizes shape = c->shape;
    shape.erase(shape.begin() + axis);
    return build.constant(ir::reshape(c, std::move(shape)));
  }
  return build("Squeeze", {x, build.ints({axis})});
}

ValueId transposed(ir::Builder& build, ValueId x, Ints order) {
  if (const auto c = constant_in(build, x)) return build.constant(ir::permute(c, std::vector<int>(order.begin(), order.end())));
  return build("Transpose", {x}, {{"perm", std::move(order)}});
}

ValueId shape_of(ir::Builder& build, ValueId x, int64_t begin, int64_t end) {
  return build("Shape", {x}, {{"start", begin}, {"end", end}});
}

ValueId size_of(ir::Builder& build, ValueId x, int64_t axis) {
  return build("Squeeze", {shape_of(build, x, axis, axis + 1), build.ints({0})});
}

ValueId iota(ir::Builder& build, ValueId end) { return build("Range", {build.scalar(DType::i64, 0), end, build.scalar(DType::i64, 1)}); }

ValueId scalar_like(ir::Builder& build, ValueId like, double value) {
  return like ? build.scalar(build.graph().value(like).type.dtype, value) : ValueId{};
}

ValueId cast_to(ir::Builder& build, ValueId x, DType dtype) {
  if (!x || build.graph().value(x).type.dtype == dtype) return x;
  const auto c = constant_in(build, x);
  if (c && is_arithmetic_float(c->dtype) && is_arithmetic_float(dtype)) return build.constant(ir::cast(c, dtype));
  return build("Cast", {x}, {{"to", static_cast<int64_t>(dtype)}});
}

}  // namespace tenon::ops
