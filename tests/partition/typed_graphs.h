// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/core/sample.h"

/// Random graphs of mixed element types, for the tests of who gets Casts.
namespace tenon::partition {

inline const std::vector<DType> kIntegers = {DType::i8, DType::i16, DType::u8, DType::i32, DType::i64};
inline const std::vector<DType> kFloats = {DType::f16, DType::f32, DType::f64};

/// Integers come from integers alone, so that they are the same to the bit; floats stay small.
class TypedGraphs {
 public:
  explicit TypedGraphs(uint64_t seed) : random_(seed) {}

  /// types: integers alone, or floats alone. Inputs are [2,3], two of each type.
  std::string write(size_t nodes, std::vector<DType> types) {
    types_ = std::move(types);
    const bool floats = is_float(types_[0]);
    std::string inputs, lines, results;
    for (DType d : types_) {
      for (int k = 0; k < 2; ++k) {
        inputs += fmt::format("{}x{}: {}[2,3]", inputs.empty() ? "" : ", ", values_.size(), name_of(d));
        values_.push_back({fmt::format("x{}", values_.size()), d});
      }
    }
    for (size_t k = 0; k < nodes; ++k) {
      const Value v = some();
      const std::string name = fmt::format("v{}", k);
      const auto& [call, type] = floats ? of_floats(v) : of_integers(v);
      lines += fmt::format("  {} = {}\n", name, call);
      values_.push_back({name, type});
    }
    for (size_t k = 0; k < 4; ++k) results += fmt::format("{}v{}", k == 0 ? "" : ", ", nodes - 1 - k);
    return fmt::format("graph main({}) {{\n  const axis: i64[] = 1\n{}  return {}\n}}", inputs, lines, results);
  }

 private:
  struct Value {
    std::string name;
    DType type;
  };
  using Call = std::pair<std::string, DType>;

  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  Value some() { return values_[values_.size() - 1 - pick(std::min<size_t>(values_.size(), 12))]; }
  Value like(const Value& v) {
    std::vector<Value> same;
    for (const Value& other : values_)
      if (other.type == v.type) same.push_back(other);
    return same[pick(same.size())];
  }
  Call two(std::string_view op, const Value& v) { return {fmt::format("{}({}, {})", op, v.name, like(v).name), v.type}; }

  Call cast(const Value& v) {
    const DType to = types_[pick(types_.size())];
    return {fmt::format("Cast({}, to={})", v.name, static_cast<int>(to)), to};
  }

  Call of_integers(const Value& v) {
    constexpr std::string_view kTwo[] = {"Add", "Sub", "Mul", "Max", "Min", "Div", "Mod", "BitwiseAnd", "BitwiseXor", "BitwiseOr"};
    switch (pick(8)) {
      case 0: return cast(v);
      case 1: return {fmt::format("BitwiseNot({})", v.name), v.type};
      case 2: return {fmt::format("Abs({})", v.name), v.type};
      case 3: return {fmt::format("CumSum({}, axis)", v.name), v.type};
      default: return two(kTwo[pick(std::size(kTwo))], v);
    }
  }
  Call of_floats(const Value& v) {
    constexpr std::string_view kTwo[] = {"Max", "Min", "Add", "Sub"};
    constexpr std::string_view kOne[] = {"Tanh", "Sigmoid", "Sin", "Softmax", "Erf"};
    if (pick(6) == 0) return cast(v);
    return pick(3) == 0 ? two(kTwo[pick(std::size(kTwo))], v) : Call{fmt::format("{}({})", kOne[pick(std::size(kOne))], v.name), v.type};
  }

  std::mt19937_64 random_;
  std::vector<Value> values_;
  std::vector<DType> types_;
};

inline std::vector<Tensor> inputs_of(const ir::Graph& graph, uint64_t seed, double largest) {
  std::vector<Tensor> out;
  for (ir::ValueId v : graph.inputs()) {
    const DType type = graph.value(v).type.dtype;
    const double fits = is_integer(type) ? std::ldexp(1, bits_of(type) - is_signed(type)) - 1 : largest;
    out.push_back(*ops::random_tensor(type, {2, 3}, seed * 100 + out.size(), -std::min(fits, largest), std::min(fits, largest)));
  }
  return out;
}

}  // namespace tenon::partition
