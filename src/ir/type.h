// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/dim.h"
#include "base/dtype.h"

namespace tenon::ir {

/// What is known of a value before it is computed.
struct Type {
  enum class Kind : uint8_t { tensor, sequence, optional } kind = Kind::tensor;
  DType dtype = DType::none;     ///< none: not known yet
  std::optional<DimList> shape;  ///< nullopt: rank unknown

  Type() = default;
  Type(DType d, DimList s) : dtype(d), shape(std::move(s)) {}
  explicit Type(DType d) : dtype(d) {}
  bool has_rank() const { return shape.has_value(); }
  int rank() const { return static_cast<int>(shape->size()); }
  Dim dim(int axis) const { return (*shape)[axis < 0 ? axis + rank() : axis]; }
  /// Number of elements where the rank is known.
  Dim count() const { return product(*shape); }
  bool is_static() const;
  /// "f32[batch,seq,768]", "f32[*]" for an unknown rank.
  std::string text() const;
  friend bool operator==(const Type&, const Type&) = default;
};

}  // namespace tenon::ir
