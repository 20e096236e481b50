// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/dim.h"
#include "base/dtype.h"
#include "base/tensor.h"

namespace tenon::ir {

/// What is known of a value before it is computed. Of a sequence or an optional, dtype and shape are those of the tensors in it: sizes that
/// are no numbers differ from one to the next, whatever their symbols are called.
struct Type {
  using Kind = ValueKind;
  Kind kind = Kind::tensor;
  DType dtype = DType::none;     ///< none: not known yet
  std::optional<DimList> shape;  ///< nullopt: rank unknown

  Type() = default;
  Type(DType d, DimList s) : dtype(d), shape(std::move(s)) {}
  explicit Type(DType d) : dtype(d) {}
  bool is_tensor() const { return kind == Kind::tensor; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_optional() const { return kind == Kind::optional || kind == Kind::optional_sequence; }
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
