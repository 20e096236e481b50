// SPDX-License-Identifier: Apache-2.0
#include "ir/strided.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"

namespace tenon::ir {
namespace {

Sizes dense_strides(const Sizes& shape) {
  Sizes strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Strided dense(Tensor tensor) { return {tensor.dtype(), tensor.shape(), dense_strides(tensor.shape()), tensor.data(), tensor}; }

/// Drops axes of size 1 and joins neighbours that run on in memory.
Strided coalesced(const Strided& from) {
  Strided out{from.dtype, {}, {}, from.data, from.keeper};
  for (size_t i = 0; i < from.shape.size(); ++i) {
    if (from.shape[i] == 1) continue;
    if (!out.shape.empty() && out.strides.back() == from.strides[i] * from.shape[i]) {
      out.shape.back() *= from.shape[i];
      out.strides.back() = from.strides[i];
    } else {
      out.shape.push_back(from.shape[i]);
      out.strides.push_back(from.strides[i]);
    }
  }
  return out;
}

struct Wide {
  uint64_t low, high;
};

template <class T>
void transpose_tile(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[r * to_row + c] = from[c * from_row + r];
  }
}

/// to[r][c] = from[c][r]: rows x columns of `to`, whose rows are `to_row` apart.
template <class T>
void transpose(const T* from, int64_t from_row, T* to, int64_t to_row, int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 32;
  for (int64_t r = 0; r < rows; r += kTile) {
    for (int64_t c = 0; c < columns; c += kTile) {
      transpose_tile(from + c * from_row + r, from_row, to + r * to_row + c, to_row, std::min(kTile, rows - r),
                     std::min(kTile, columns - c));
    }
  }
}

/// Dense writing in rows; the innermost axis is read at its stride.
template <class T>
void gather_rows(const Strided& from, T* to) {
  each_row(from, [&](const std::byte* row, int64_t stride, int64_t n) {
    const T* p = reinterpret_cast<const T*>(row);
    if (stride == 1) {
      std::memcpy(to, p, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = p[i * stride];
    }
    to += n;
  });
}

/// Axis `unit` has stride 1 and is not the last: the plane it spans with the last axis is transposed in tiles.
template <class T>
void transpose_planes(const Strided& from, size_t unit, T* to) {
  size_t last = from.shape.size() - 1;
  Sizes to_strides = dense_strides(from.shape);
  // Walk all other axes: reading offsets and writing offsets side by side.
  Sizes at(from.shape.size(), 0);
  int64_t source = 0, target = 0;
  while (true) {
    transpose(reinterpret_cast<const T*>(from.data) + source, from.strides[last], to + target, to_strides[unit], from.shape[unit],
              from.shape[last]);
    size_t axis = last;
    bool done = true;
    while (axis-- > 0) {
      if (axis == unit) continue;
      source += from.strides[axis];
      target += to_strides[axis];
      if (++at[axis] < from.shape[axis]) {
        done = false;
        break;
      }
      source -= from.strides[axis] * from.shape[axis];
      target -= to_strides[axis] * from.shape[axis];
      at[axis] = 0;
    }
    if (done) return;
  }
}

template <class T>
void copy_as(const Strided& from, std::byte* bytes) {
  T* to = reinterpret_cast<T*>(bytes);
  for (size_t axis = 0; axis + 1 < from.shape.size(); ++axis) {
    if (from.strides[axis] == 1 && from.strides.back() != 1) return transpose_planes(from, axis, to);
  }
  gather_rows(from, to);
}

template <class T>
void pack_matrix(const T* from, int64_t row, int64_t column, int64_t rows, int64_t columns, int64_t panel, T* to) {
  constexpr int64_t kRows = 64;  // a block of 64 rows of a panel stays in the first-level cache while its columns are filled
  for (int64_t first = 0; first < columns; first += panel) {
    int64_t used = std::min(panel, columns - first);
    if (used < panel) std::memset(static_cast<void*>(to), 0, static_cast<size_t>(rows * panel) * sizeof(T));
    const T* source = from + first * column;
    for (int64_t k = 0; k < rows; k += kRows) {
      int64_t end = std::min(rows, k + kRows);
      if (column == 1) {
        for (int64_t i = k; i < end; ++i) std::memcpy(to + i * panel, source + i * row, static_cast<size_t>(used) * sizeof(T));
      } else {
        for (int64_t j = 0; j < used; ++j) {
          for (int64_t i = k; i < end; ++i) to[i * panel + j] = source[i * row + j * column];
        }
      }
    }
    to += rows * panel;
  }
}

/// The same with `group` rows side by side, lane by lane.
template <class T>
void pack_groups(const T* from, int64_t row, int64_t column, int64_t rows, int64_t columns, int64_t panel, int64_t group, T* to) {
  for (int64_t first = 0; first < columns; first += panel) {
    const int64_t used = std::min(panel, columns - first);
    for (int64_t k = 0; k < rows; k += group, to += panel * group) {
      const int64_t inside = std::min(group, rows - k);
      if (used < panel || inside < group) std::memset(static_cast<void*>(to), 0, static_cast<size_t>(panel * group) * sizeof(T));
      const T* source = from + k * row + first * column;
      for (int64_t j = 0; j < used; ++j)
        for (int64_t i = 0; i < inside; ++i) to[j * group + i] = source[i * row + j * column];
    }
  }
}

template <class T>
void pack_as(const Strided& from, int64_t panel, int64_t group, std::byte* bytes) {
  size_t rank = from.shape.size();
  int64_t rows = from.shape[rank - 2], columns = from.shape[rank - 1];
  T* to = reinterpret_cast<T*>(bytes);
  // One innermost element a matrix: the rows of the outer axes, walked one by one.
  Strided outer{
      from.dtype, Sizes(from.shape.begin(), from.shape.end() - 2), Sizes(from.strides.begin(), from.strides.end() - 2), from.data, {}};
  each_row(outer, [&](const std::byte* first, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const T* matrix = reinterpret_cast<const T*>(first) + i * stride;
      const int64_t row = from.strides[rank - 2], column = from.strides[rank - 1];
      if (group == 1) pack_matrix(matrix, row, column, rows, columns, panel, to);
      else pack_groups(matrix, row, column, rows, columns, panel, group, to);
      to += round_up(rows, group) * round_up(columns, panel);
    }
  });
}

}  // namespace

int64_t Strided::count() const {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

bool Strided::is_contiguous() const { return count() == 0 || coalesced(*this).shape.empty() || (coalesced(*this).strides == Sizes{1}); }

namespace {

Strided sliced(Strided view, const Constant::Slice& step, const Constant& constant) {
  const auto axis = static_cast<size_t>(step.axis);
  if (constant.count() > 0) view.data += step.begin * view.strides[axis] * view.width();
  view.strides[axis] *= step.step;
  view.shape = constant.shape;
  return view;
}

Strided permuted(Strided view, const Constant::Permute& step, const Constant& constant) {
  Sizes strides;
  for (int k : step.order) strides.push_back(view.strides[static_cast<size_t>(k)]);
  view.strides = std::move(strides);
  view.shape = constant.shape;
  return view;
}

}  // namespace

Result<Strided> strided_view(const Constant& constant) {
  TENON_ASSERT(bits_of(constant.dtype) >= 8);
  if (auto* tensor = std::get_if<Tensor>(&constant.source)) return dense(*tensor);
  if (auto* step = std::get_if<Constant::Slice>(&constant.source)) return sliced(TRY(strided_view(*step->operand)), *step, constant);
  if (auto* step = std::get_if<Constant::Permute>(&constant.source)) return permuted(TRY(strided_view(*step->operand)), *step, constant);
  if (auto* step = std::get_if<Constant::Reshape>(&constant.source)) {
    Strided view = TRY(strided_view(*step->operand));
    if (view.is_contiguous()) {
      view.shape = constant.shape;
      view.strides = dense_strides(view.shape);
      return view;
    }
  }
  return dense(TRY(materialise(constant)));
}

void copy_dense(const Strided& from, std::byte* to) {
  if (from.count() == 0) return;
  Strided view = coalesced(from);
  switch (view.width()) {
    case 1: return copy_as<uint8_t>(view, to);
    case 2: return copy_as<uint16_t>(view, to);
    case 4: return copy_as<uint32_t>(view, to);
    case 8: return copy_as<uint64_t>(view, to);
    default: return copy_as<Wide>(view, to);
  }
}

void copy_packed(const Strided& from, int64_t panel, int64_t group, std::byte* to) {
  switch (from.width()) {
    case 1: return pack_as<uint8_t>(from, panel, group, to);
    case 2: return pack_as<uint16_t>(from, panel, group, to);
    case 4: return pack_as<uint32_t>(from, panel, group, to);
    case 8: return pack_as<uint64_t>(from, panel, group, to);
    default: return pack_as<Wide>(from, panel, group, to);
  }
}

}  // namespace tenon::ir
