// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/dim/dim.h"
#include "base/dtype.h"
#include "base/tensor.h"

namespace tenon::ir {

/// What is known of a value before it is computed. Of a sequence or an optional, dtype and shape are those of the tensors in it: sizes that
/// are no numbers differ from one to the next, whatever their symbols are called. Of a map, dtype is that of its values.
struct Type {
  using Kind = ValueKind;
  Kind kind = Kind::tensor;
  DType dtype = DType::none;     ///< none: not known yet
  std::optional<DimList> shape;  ///< nullopt: rank unknown
  DType key = DType::none;       ///< of a map, and of maps in a sequence: i64 or string

  Type() = default;
  Type(DType d, DimList s) : dtype(d), shape(std::move(s)) {}
  explicit Type(DType d) : dtype(d) {}
  static Type map(DType key, DType value, Kind kind = Kind::map) {
    Type out(value);
    out.kind = kind;
    out.key = key;
    return out;
  }
  bool is_tensor() const { return kind == Kind::tensor; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_optional() const { return kind == Kind::optional || kind == Kind::optional_sequence; }
  bool is_map() const { return kind == Kind::map || kind == Kind::sequence_of_maps; }
  bool has_rank() const { return shape.has_value(); }
  int rank() const { return static_cast<int>(shape->size()); }
  Dim dim(int axis) const { return (*shape)[axis < 0 ? axis + rank() : axis]; }
  /// Number of elements where the rank is known.
  Dim count() const { return product(*shape); }
  bool is_static() const;
  /// "f32[batch,seq,768]", "f32[*]" for an unknown rank, "seq(map(string,f32))".
  std::string text() const;
  friend bool operator==(const Type&, const Type&) = default;
};

}  // namespace tenon::ir
