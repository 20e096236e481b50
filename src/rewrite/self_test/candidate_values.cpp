// SPDX-License-Identifier: Apache-2.0
#include "rewrite/self_test/candidate_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace tenon::rewrite {

ValueId CandidateValues::input(DType dtype, Sizes shape) {
  ir::Type type(dtype);
  type.shape.emplace(shape.begin(), shape.end());
  return graph_.add_input(fmt::format("in{}", graph_.inputs().size()), std::move(type));
}

ValueId CandidateValues::filled(DType dtype, Sizes shape, double from, double step) {
  auto tensor = Tensor::make(dtype, std::move(shape));
  if (!tensor) return {};
  for (int64_t i = 0; i < tensor->count(); ++i) tensor->set_number(i, from + step * static_cast<double>(i));
  return build_.constant(std::move(*tensor));
}

/// Constants of one number, of rank 0 or 1.
ValueId CandidateValues::number(DType dtype, uint32_t choice) {
  static constexpr std::array kNumbers = {2.0, 1e-5, 0.0, 1.0, 0.5, -std::numeric_limits<double>::infinity(), -1.0, 3.0};
  return filled(dtype, choice / kNumbers.size() % 2 == 0 ? Sizes{} : Sizes{1}, kNumbers[choice % kNumbers.size()], 0);
}

/// Axes, targets, sizes.
ValueId CandidateValues::integers(uint32_t choice) {
  const uint32_t more = choice / 8;
  switch (choice % 8) {
    case 0: return build_.ints({-1});
    case 1: return build_.ints({0});
    case 2: return build_.ints({1});
    case 3: return build_.ints(std::vector<int64_t>(shape_.begin(), shape_.end()));
    case 4: return build_.ints({0, -1});
    case 5: return build_.ints({static_cast<int64_t>(shape_.size()) - 1});
    case 6: return build_.ints({1, 1});
    default: return build_.scalar(DType::i64, more % 5);
  }
}

/// Shapes that ops may need together with one of `shape_`; in the end any one of its sizes, 1 and 2.
Sizes CandidateValues::related_shape(uint32_t choice) const {
  Sizes s = shape_;
  const uint32_t more = choice / 13;
  switch (choice % 13) {
    case 0: return s.empty() ? s : Sizes{s[s.size() - 1 - more % s.size()]};
    case 1: return {};
    case 2: return {1};
    case 3:
      if (s.size() >= 2) std::swap(s[s.size() - 1], s[s.size() - 2]);
      return s;
    case 4:
      if (!s.empty()) s.erase(s.begin());
      return s;
    case 5:
      if (!s.empty()) s.pop_back();
      return s;
    case 6: return {s.empty() ? 1 : s.back(), 4};
    case 7:
      if (s.size() >= 2) s.erase(s.begin() + 1);
      return s;
    case 8:
      if (!s.empty()) s[more % s.size()] = 1;
      return s;
    case 9: return s.size() == 3 ? Sizes{s[1], 1, 2} : s;
    default: break;
  }
  s.push_back(1);
  s.push_back(2);
  Sizes out;
  uint32_t rest = more / 4;
  for (uint32_t i = 0; i <= more % 4; ++i, rest /= static_cast<uint32_t>(s.size())) out.push_back(s[rest % s.size()]);
  return out;
}

ValueId CandidateValues::value(uint32_t choice, DType dtype) {
  static constexpr std::array kOthers = {DType::i64, DType::boolean, DType::f32, DType::f16, DType::f64, DType::i32};
  const uint32_t more = choice / 16;
  switch (choice % 16) {
    case 0:
    case 1:
    case 2: return input(dtype, shape_);
    case 3:
    case 4:
    case 5: return input(dtype, related_shape(more));
    case 6: return filled(dtype, related_shape(more), 0.5, 0.25);
    case 7: return filled(dtype, shape_, -1, 0.125);
    case 8:
    case 9: return number(dtype, more);
    case 10:
    case 11:
    case 12: return integers(more);
    case 13: return input(DType::boolean, shape_);
    default: return input(kOthers[more % kOthers.size()], more / kOthers.size() % 3 == 0 ? shape_ : related_shape(more / 18));
  }
}

std::optional<ir::Attribute> CandidateValues::attribute(const Term::AttributePattern& pattern, uint32_t choice, DType dtype) const {
  static constexpr std::array kTypes = {DType::f32, DType::f16, DType::f64, DType::bf16, DType::i64};
  if (pattern.floating) return choice % 2 == 0 ? std::optional<ir::Attribute>(1e-5f) : std::nullopt;
  ir::Ints order(shape_.size());
  std::iota(order.begin(), order.end(), 0);
  switch (choice % 9) {
    case 0:
      if (pattern.has_default) return std::nullopt;
      std::ranges::reverse(order);
      return order;
    case 1:
      if (!order.empty()) std::ranges::rotate(order, order.begin() + 1);
      return order;
    case 2: return int64_t{1};
    case 3: return int64_t{0};
    case 4: return int64_t{-1};
    case 5: return static_cast<int64_t>(dtype);
    case 6: return static_cast<int64_t>(kTypes[choice / 9 % kTypes.size()]);
    case 7:
      if (order.size() >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
      return order;
    default: return std::nullopt;
  }
}

}  // namespace tenon::rewrite
