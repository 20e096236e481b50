// SPDX-License-Identifier: Apache-2.0
#include "rewrite/verify/result_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/literal.h"
#include "rewrite/verify/element_source.h"

namespace tenon::rewrite {
namespace {

constexpr double kErrorFactor = 16;            ///< of every rounding error, for reassociating and for approximate rules
constexpr double kApproximateFraction = 0.02;  ///< of the result, for approximate rules on top
constexpr double kWideUnit = 0x1p-53;          ///< half a step of f64 at 1

std::optional<Difference> differ_in_type(const Tensor& old, const Tensor& fresh) {
  if (old.dtype() == fresh.dtype() && old.shape() == fresh.shape()) return std::nullopt;
  return Difference{.expected = type_text(old.dtype(), old.shape()), .found = type_text(fresh.dtype(), fresh.shape())};
}

bool is_same(const Tensor& a, const Tensor& b, int64_t i) {
  if (a.dtype() == DType::string) return a.strings()[static_cast<size_t>(i)] == b.strings()[static_cast<size_t>(i)];
  if (!is_float(a.dtype())) return a.integer(i) == b.integer(i);
  const double x = a.number(i), y = b.number(i);
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

/// Real and imaginary parts as a last axis of two.
Tensor parts_of(const Tensor& t) {
  Sizes shape = t.shape();
  shape.push_back(2);
  return Tensor::view(t.dtype() == DType::c64 ? DType::f32 : DType::f64, std::move(shape), t.data(), t.keeper());
}

double mean(std::span<const double> values) {
  double sum = 0, count = 0;
  for (double v : values) {
    if (!std::isfinite(v)) continue;
    sum += v;
    ++count;
  }
  return count ? sum / count : 0;
}

std::vector<double> magnitudes(const Tensor& t) {
  std::vector<double> out = numbers_of(t);
  for (double& v : out) v = std::abs(v);
  return out;
}

}  // namespace

void widen_error(ReferenceResult& expected, const Tensor& rounded) {
  expected.error.resize(static_cast<size_t>(expected.wide.count()));
  if (rounded.shape() != expected.wide.shape()) return;
  for (int64_t i = 0; i < rounded.count(); ++i) {
    const double off = std::abs(rounded.number(i) - expected.wide.number(i));
    double& error = expected.error[static_cast<size_t>(i)];
    if (std::isfinite(off)) error = std::max(error, off);
  }
}

std::optional<Difference> differ_in_bits(const Tensor& old, const Tensor& fresh) {
  if (auto d = differ_in_type(old, fresh)) return d;
  if (is_complex(old.dtype())) return differ_in_bits(parts_of(old), parts_of(fresh));
  for (int64_t i = 0; i < old.count(); ++i)
    if (!is_same(old, fresh, i)) return Difference{.at = i, .expected = ir::element_text(old, i), .found = ir::element_text(fresh, i)};
  return std::nullopt;
}

std::optional<Difference> differ_in_nonfinite(const Tensor& old, const Tensor& fresh) {
  if (auto d = differ_in_type(old, fresh)) return d;
  for (int64_t i = 0; i < old.count(); ++i) {
    const double x = old.number(i), y = fresh.number(i);
    if (std::isfinite(x) || x == y || (std::isnan(x) && std::isnan(y))) continue;
    return Difference{.at = i, .expected = ir::element_text(old, i), .found = ir::element_text(fresh, i)};
  }
  return std::nullopt;
}

std::optional<Difference> differ_beyond_tolerance(const ReferenceResult& old, const Tensor& fresh, Numerics numerics,
                                                  double coarsest_unit) {
  if (auto d = differ_in_type(old.declared, fresh)) return d;
  const bool is_loose = numerics == Numerics::approximate;
  const double all = kErrorFactor * mean(old.error) + (is_loose ? kApproximateFraction * mean(magnitudes(old.wide)) : 0);
  const double least = kErrorFactor * (smallest_positive_of(fresh.dtype()) + kWideUnit * old.largest_intermediate);
  for (int64_t i = 0; i < fresh.count(); ++i) {
    const double declared = old.declared.number(i), wide = old.wide.number(i), found = fresh.number(i);
    if (!std::isfinite(declared)) continue;
    const double error = old.error.empty() ? 0 : old.error[static_cast<size_t>(i)];
    const double bound =
        all + least + kErrorFactor * (error + coarsest_unit * std::abs(wide)) + (is_loose ? kApproximateFraction * std::abs(wide) : 0);
    if (std::abs(found - wide) <= bound) continue;
    return Difference{.at = i, .expected = fmt::format("{:.9g} within {:.2g}", wide, bound), .found = ir::element_text(fresh, i)};
  }
  return std::nullopt;
}

}  // namespace tenon::rewrite
