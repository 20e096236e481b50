// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/dim/dim.h"
#include "ir/type.h"

namespace tenon::ir {

/// Replaces the symbols in dims by those of the same names in other Symbols, for copies between graphs.
class DimRemapper {
 public:
  /// to: the Symbols of the copy; null: dims are unchanged.
  explicit DimRemapper(Symbols* to) : to_(to) {}
  Dim operator()(Dim d) const {
    if (!to_ || d.is_number()) return d;
    return substitute(d, [this](const DimNode& s) { return to_->symbol(s.name, s.lower, s.upper); });
  }
  Type operator()(Type type) const {
    if (to_ && type.shape)
      for (Dim& d : *type.shape) d = (*this)(d);
    return type;
  }

 private:
  Symbols* to_;
};

}  // namespace tenon::ir
