// SPDX-License-Identifier: Apache-2.0
#include "codegen/winograd/minimal_filter.h"

#include <cmath>

namespace tenon::codegen {

namespace {

/// All finite points: 0, p, -p, q, -q.
std::vector<double> all_points(const MinimalFilter& f) {
  std::vector<double> out{0};
  for (double p : f.points) out.insert(out.end(), {p, -p});
  return out;
}

/// Coefficients of the product of (x - p) over all points but number `without`, lowest power first, as many as `size`.
std::vector<double> polynomial(const MinimalFilter& f, int without) {
  std::vector<double> out(static_cast<size_t>(f.size()), 0.0);
  out[0] = 1;
  const std::vector<double> points = all_points(f);
  for (int k = 0; k < static_cast<int>(points.size()); ++k) {
    if (k == without) continue;
    for (size_t power = out.size(); power-- > 0;)
      out[power] = (power > 0 ? out[power - 1] : 0) - points[static_cast<size_t>(k)] * out[power];
  }
  return out;
}

/// The sum of factors[k] * x[k] over k = first, first + step, ...; null where all of these factors are 0.
Expr sum_of(std::span<const double> factors, std::span<const Expr> x, size_t first, size_t step) {
  Expr sum;
  for (size_t k = factors.size(); k-- > 0;) {
    if (factors[k] == 0 || k % step != first % step) continue;
    if (!sum) sum = factors[k] == 1 ? x[k] : x[k] * Expr(factors[k]);
    else if (factors[k] == 1) sum = sum + x[k];
    else sum = factors[k] < 0 ? sum - x[k] * Expr(-factors[k]) : sum + x[k] * Expr(factors[k]);
  }
  return sum;
}

/// B d. The factors of two points p and -p are the sum and the difference of the same two parts.
std::vector<Expr> transform_data(const MinimalFilter& f, std::span<const Expr> d) {
  std::vector<Expr> out{sum_of(polynomial(f, 0), d, 0, 1)};
  for (int pair = 0; pair < static_cast<int>(f.points.size()); ++pair) {
    const std::vector<double> factors = polynomial(f, 1 + 2 * pair);
    const Expr even = sum_of(factors, d, 0, 2), odd = sum_of(factors, d, 1, 2);
    out.push_back(even + odd);
    out.push_back(even - odd);
  }
  out.push_back(sum_of(polynomial(f, -1), d, 0, 1));
  return out;
}

/// A m: sum i adds up the products, each times the i-th power of its point; the product at infinity is added to the last sum alone.
std::vector<Expr> transform_sums(const MinimalFilter& f, std::span<const Expr> m) {
  std::vector<Expr> sums, differences;
  for (size_t pair = 0; pair < f.points.size(); ++pair) {
    sums.push_back(m[1 + 2 * pair] + m[2 + 2 * pair]);
    differences.push_back(m[1 + 2 * pair] - m[2 + 2 * pair]);
  }
  std::vector<Expr> out;
  for (int i = 0; i < f.outputs; ++i) {
    std::vector<double> powers;
    for (double p : f.points) powers.push_back(std::pow(p, i));
    Expr sum = sum_of(powers, i % 2 == 0 ? sums : differences, 0, 1);
    if (i == 0) sum = sum + m[0];
    if (i == f.outputs - 1) sum = sum + m[m.size() - 1];
    out.push_back(sum);
  }
  return out;
}

/// G, row by row: the powers of a point over the product of its distances from the others.
std::vector<std::vector<double>> kernel_matrix(const MinimalFilter& f) {
  std::vector<std::vector<double>> out;
  const std::vector<double> points = all_points(f);
  for (double p : points) {
    double distances = 1;
    for (double q : points)
      if (q != p) distances *= p - q;
    out.push_back({1 / distances, p / distances, p * p / distances});
  }
  out.push_back({0, 0, 1});
  return out;
}

/// Applies `line` to each column of the square, then to each row of the result.
template <class F>
std::vector<Expr> transform_square(std::span<const Expr> square, int size, int results, F line) {
  std::vector<Expr> columns(static_cast<size_t>(results) * size), out(static_cast<size_t>(results) * results);
  for (int j = 0; j < size; ++j) {
    std::vector<Expr> column;
    for (int i = 0; i < size; ++i) column.push_back(square[i * size + j]);
    const std::vector<Expr> transformed = line(column);
    for (int i = 0; i < results; ++i) columns[i * size + j] = transformed[i];
  }
  for (int i = 0; i < results; ++i) {
    const std::vector<Expr> transformed = line(std::span(columns).subspan(static_cast<size_t>(i) * size, static_cast<size_t>(size)));
    for (int j = 0; j < results; ++j) out[i * results + j] = transformed[j];
  }
  return out;
}

}  // namespace

MinimalFilter minimal_filter(int outputs) {
  TENON_ASSERT(outputs == 2 || outputs == 4);
  if (outputs == 2) return {2, {1}};
  return {4, {0.75, 1.5}};
}

ir::ConstantRef kernel_factors(const MinimalFilter& f) {
  const auto g = kernel_matrix(f);
  Tensor out = *Tensor::make(DType::f64, {int64_t{f.size()} * f.size(), 9});
  int64_t at = 0;
  for (const auto& row : g)
    for (const auto& column : g)
      for (double a : row)
        for (double b : column) out.set_number(at++, a * b);
  return ir::constant_of(std::move(out));
}

std::vector<Expr> data_factors(const MinimalFilter& f, std::span<const Expr> square) {
  return transform_square(square, f.size(), f.size(), [&](std::span<const Expr> d) { return transform_data(f, d); });
}

std::vector<Expr> sums_of_products(const MinimalFilter& f, std::span<const Expr> products) {
  return transform_square(products, f.size(), f.outputs, [&](std::span<const Expr> m) { return transform_sums(f, m); });
}

}  // namespace tenon::codegen
