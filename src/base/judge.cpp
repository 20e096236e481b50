// SPDX-License-Identifier: Apache-2.0
#include "base/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::inline base {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The reference as the dtype can hold it: what is too large for it is infinite there too.
double as_stored(DType dtype, double reference) {
  if (dtype == DType::f64) return reference;
  if (dtype == DType::f32) return static_cast<float>(reference);
  if (dtype == DType::f16 || dtype == DType::bf16) return decode_float(dtype, encode_float(dtype, reference, false));
  return reference;
}

/// The largest magnitude below those that masks are filled with (-1e4, -1e9, -3.4e38), which say nothing of the other elements.
double scale_of(const Tensor& t) {
  constexpr double kFill = 1e4;
  double out = 1;
  for (int64_t i = 0; i < t.count(); ++i)
    if (const double v = std::abs(t.number(i)); v < kFill) out = std::max(out, v);
  return out;
}

/// "[0,3]" of a row-major place.
std::string place_text(const Sizes& shape, int64_t at) {
  Sizes place(shape.size());
  for (size_t d = shape.size(); d-- > 0; at /= shape[d]) place[d] = at % shape[d];
  return fmt::format("[{}]", fmt::join(place, ","));
}

Distance compare_strings(const Tensor& a, const Tensor& b) {
  Distance d;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (a.strings()[i] == b.strings()[i]) continue;
    if (d.at < 0)
      d = {kInfinity, i, kInfinity, 0, 0, fmt::format("{} is {}, reference {}", place_text(a.shape(), i), a.strings()[i], b.strings()[i])};
    ++d.exceeding;
  }
  return d;
}

Distance compare_integers(const Tensor& a, const Tensor& b) {
  Distance d;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (a.integer(i) == b.integer(i)) continue;
    const double difference = std::abs(static_cast<double>(a.integer(i)) - static_cast<double>(b.integer(i)));
    if (d.at < 0 || difference > d.largest) d.at = i;
    d.largest = std::max(d.largest, difference);
    d.bound_ratio = kInfinity;
    ++d.exceeding;
  }
  if (d.at >= 0) d.found = fmt::format("{} is {}, reference {}", place_text(a.shape(), d.at), a.integer(d.at), b.integer(d.at));
  return d;
}

/// Absolute difference; infinity where one is NaN or infinite and the other is not the same.
double difference_of(double value, double reference) {
  if (value == reference || (std::isnan(value) && std::isnan(reference))) return 0;
  const double d = std::abs(value - reference);
  return std::isfinite(d) ? d : kInfinity;
}

Distance compare_floats(const Tensor& a, const Tensor& b, const Tolerance& least) {
  const Tolerance own = tolerance_of(a.dtype()), t{std::max(own.relative, least.relative), std::max(own.absolute, least.absolute)};
  const double scale = scale_of(b);
  Distance d;
  d.bound = t.absolute * scale;
  for (int64_t i = 0; i < a.count(); ++i) {
    const double value = a.number(i), wide = b.number(i),
                 reference = std::isfinite(as_stored(a.dtype(), wide)) ? wide : as_stored(a.dtype(), wide);
    const double difference = difference_of(value, reference);
    if (difference == 0) continue;
    const double share = difference / (t.relative * std::abs(reference) + t.absolute * std::max(scale, std::abs(reference)));
    const double bound_ratio = std::isnan(share) ? kInfinity : share;
    d.largest = std::max(d.largest, difference);
    if (bound_ratio > 1) ++d.exceeding;
    if (bound_ratio <= d.bound_ratio) continue;
    d.bound_ratio = bound_ratio;
    d.at = i;
  }
  if (d.at >= 0) d.found = fmt::format("{} is {:.9g}, reference {:.9g}", place_text(a.shape(), d.at), a.number(d.at), b.number(d.at));
  return d;
}

/// Real and imaginary parts as a last axis of two.
Tensor parts_of(const Tensor& t) {
  Sizes shape = t.shape();
  shape.push_back(2);
  return Tensor::view(t.dtype() == DType::c64 ? DType::f32 : DType::f64, std::move(shape), t.data(), t.keeper());
}

}  // namespace

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return {1e-7, 1e-7};
    case DType::f32: return {1.3e-6, 1e-5};
    case DType::f16: return {1e-3, 1e-3};
    case DType::bf16: return {1.6e-2, 1e-3};
    default: break;
  }
  // Narrower floats: half a step of their mantissa, at most 2 bits.
  return is_float(dtype) ? Tolerance{0.125, 0.125} : Tolerance{};
}

namespace {

/// The tensor that exceeds its bound most represents all of them.
Distance furthest(const Tensor& value, const Tensor& reference, const Tolerance& least) {
  if (value.dtype() != reference.dtype() || value.count() != reference.count())
    return {kInfinity, 0, kInfinity, 0, 1, type_text(value) + ", reference " + type_text(reference)};
  Distance out;
  for (size_t k = 0; k < value.elements().size(); ++k) {
    Distance d = distance(value.elements()[k], reference.elements()[k], least);
    const int64_t beyond = out.exceeding + d.exceeding;
    if (!d.found.empty()) d.found = fmt::format("element {}: {}", k, d.found);
    if (k == 0 || d.bound_ratio > out.bound_ratio) out = std::move(d);
    out.exceeding = beyond;
  }
  return out;
}

}  // namespace

Distance distance(const Tensor& tensor, const Tensor& reference, const Tolerance& least) {
  if (tensor.holds_tensors() || reference.holds_tensors()) return furthest(tensor, reference, least);
  const bool kind = tensor.dtype() == reference.dtype() || (is_float(tensor.dtype()) && reference.dtype() == DType::f64);
  if (!kind || tensor.shape() != reference.shape())
    return {
        kInfinity,         0,
        kInfinity,         0,
        reference.count(), type_text(tensor.dtype(), tensor.shape()) + ", reference " + type_text(reference.dtype(), reference.shape())};
  if (tensor.dtype() == DType::string) return compare_strings(tensor, reference);
  if (is_complex(tensor.dtype())) return compare_floats(parts_of(tensor), parts_of(reference), least);
  if (is_float(tensor.dtype())) return compare_floats(tensor, reference, least);
  return compare_integers(tensor, reference);
}

bool is_good(const Distance& ours, const std::optional<Distance>& other) {
  const bool as_good = other && std::isfinite(other->largest) && ours.largest <= 2 * other->largest;
  return as_good || ours.bound_ratio <= 1;
}

namespace {
constexpr double kSums = 32, kDecisions = 4;
}  // namespace

double rounding_with_decisions(double rounding, double perturbed) { return std::max(rounding, perturbed * kDecisions / kSums); }

bool is_explained_by_decisions(const Distance& d, double rounding, double perturbed) {
  return std::isfinite(d.largest) && perturbed > kSums * rounding && d.largest <= perturbed * kDecisions;
}

bool is_bad(const Distance& d, double rounding) {
  const bool rounded = std::isfinite(d.largest) && d.largest <= kSums * rounding;
  return d.bound_ratio > 1 && !rounded;
}

}  // namespace tenon::inline base
