// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/element_numbers.h"

namespace tenon::codegen {

namespace {

/// Assigns dimensions of an array to the axes that run over them, one axis after the other.
class DimensionsLeft {
 public:
  DimensionsLeft(const DimList& shape, const std::vector<int>& order) : from_(row_major(shape)), to_(strides_in_order(shape, order)) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (!(shape[d] == Dim(1))) left_.push_back({d, shape[d]});
  }

  /// The stride in memory of an axis with stride `step` in row-major order. nullopt where it does not run over whole dimensions.
  std::optional<Dim> step_of(Dim step, Dim extent) {
    size_t at = left_.size();
    while (at > 0 && !(from_[left_[at - 1].dimension] == step)) --at;
    if (at == 0) return std::nullopt;
    const size_t last = left_[at - 1].dimension;
    Dim covered = 1;
    for (; !(covered == extent); --at) {
      if (at == 0) return std::nullopt;
      const auto [d, size] = left_[at - 1];
      if (!(from_[d] == step * covered) || !(to_[d] == to_[last] * covered)) return std::nullopt;
      covered = covered * size;
      left_.erase(left_.begin() + static_cast<ptrdiff_t>(at) - 1);
    }
    return to_[last];
  }

 private:
  struct Left {
    size_t dimension;
    Dim size;
  };
  DimList from_, to_;
  std::vector<Left> left_;  ///< dimensions without an axis yet
};

}  // namespace

std::optional<Expr> number_in_order(const Expr& flat, const DimList& shape, const std::vector<int>& order,
                                    const std::vector<ops::Axis>& axes) {
  const auto place = affine_of(flat, static_cast<int>(axes.size()));
  if (!place || !(place->offset == Dim(0))) return std::nullopt;
  DimensionsLeft left(shape, order);
  Expr sum = Expr::integer(DType::i64, 0);
  for (size_t x = 0; x < axes.size(); ++x) {
    if (place->coefficients[x] == Dim(0) || axes[x].extent == Dim(1)) continue;
    const auto step = left.step_of(place->coefficients[x], axes[x].extent);
    if (!step) return std::nullopt;
    sum = sum + Expr::axis(static_cast<int>(x)) * Expr::dim(*step);
  }
  return simplify(sum);
}

}  // namespace tenon::codegen
