// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/expr/expr.h"
#include "ir/constant.h"

namespace tenon::codegen {

/// Sums over windows of 3 neighbours by fewer products: `outputs` neighbouring sums y_i = sum_k d_(i + k) * g_k from outputs + 2 products,
/// y = A ((G g) * (B d)), the multiplication of polynomials by their values at points of which the last is infinity. Planes are
/// transformed in both dimensions: F(4x4, 3x3) takes 36 products for 16 sums of 9.
/// S. Winograd, Arithmetic Complexity of Computations, 1980; A. Lavin and S. Gray, Fast Algorithms for Convolutional Neural Networks, 2016.
struct MinimalFilter {
  int outputs;
  /// The points are 0, each of these, and the negative of each of these.
  std::vector<double> points;

  int size() const { return outputs + 2; }
};

/// outputs: 2 or 4. All numbers of A and B are exact in f32. The points of 4 are those that lose least: rounding errors are twice those of
/// the plain sum at 256 channels, in place of four times with 1 and 2. After B. Barabasz, A. Anderson, K. Soodhalter, D. Gregg, Error
/// Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural Networks, 2020.
MinimalFilter minimal_filter(int outputs);

/// The matrix of f64 [size^2, 9] that transforms a row-major 3x3 kernel: row i * size + j gives its factor of product (i, j).
ir::ConstantRef kernel_factors(const MinimalFilter& f);
/// The factors of the products for a square of size^2 elements, row-major.
std::vector<Expr> data_factors(const MinimalFilter& f, std::span<const Expr> square);
/// The outputs^2 sums, row-major, from the products, row-major.
std::vector<Expr> sums_of_products(const MinimalFilter& f, std::span<const Expr> products);

}  // namespace tenon::codegen
