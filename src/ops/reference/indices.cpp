// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/indices.h"

#include <algorithm>

#include "ops/core/refuse.h"

namespace tenon::ops {

Sizes strides_of(const Sizes& shape) {
  Sizes out(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
  return out;
}

int64_t count_of(const Sizes& shape) {
  auto n = checked_count(shape);
  TENON_ASSERT(n.has_value());
  return *n;
}

int64_t offset_of(const Sizes& index, const Sizes& strides) {
  int64_t at = 0;
  for (size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
  return at;
}

Sizes index_of(int64_t position, const Sizes& shape) {
  Sizes out(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    out[i] = position % shape[i];
    position /= shape[i];
  }
  return out;
}

bool next_index(Sizes& index, const Sizes& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

Result<Sizes> broadcast_sizes(const NodeView& view, const Sizes& a, const Sizes& b) {
  Sizes out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i + a.size() < out.size() ? 1 : a[i + a.size() - out.size()];
    const int64_t y = i + b.size() < out.size() ? 1 : b[i + b.size() - out.size()];
    if (x != y && x != 1 && y != 1) {
      return refuse(view, Code::shape_mismatch, "operands cannot be broadcast together")
          .expected("sizes equal or 1")
          .found(std::to_string(x) + " and " + std::to_string(y));
    }
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Sizes broadcast_strides(const Sizes& from, const Sizes& to) {
  Sizes out(to.size(), 0);
  const Sizes strides = strides_of(from);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) out[i + to.size() - from.size()] = strides[i];
  }
  return out;
}

bool wrap_axis(int64_t& axis, int64_t rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank;
}

Result<int64_t> wrap_index(const NodeView& view, int64_t index, int64_t size) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  return refuse(view, Code::index_out_of_range, "an index is out of range")
      .expected(std::to_string(-size) + " to " + std::to_string(size - 1))
      .found(std::to_string(index));
}

}  // namespace tenon::ops
