// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "nn/weights.h"

namespace tenon::nn {

/// Adds weights to a graph and collects errors: missing weights, weights of another shape and unused ones are reported in one error by
/// finish(). For such a weight a call returns null or a none id, and later calls continue.
class WeightReader {
 public:
  WeightReader(ir::Builder& build, const Weights& weights) : build_(build), weights_(weights) {}

  bool has(const std::string& name) const { return weights_.shape_of(name).has_value(); }
  bool has_shape(const std::string& name, const Sizes& shape) const { return weights_.shape_of(name) == shape; }
  /// A weight of that shape; null where it is missing or has another.
  ir::ConstantRef read(const std::string& name, const Sizes& shape);
  /// x [..., inputs] times NAME.weight [outputs, inputs] transposed, plus NAME.bias [outputs] where there is one.
  ir::ValueId linear(const std::string& name, ir::ValueId x, int64_t inputs, int64_t outputs);
  /// The same of rows [begin, begin + outputs) of a joined weight with `all` rows.
  ir::ValueId linear_part(const std::string& name, ir::ValueId x, int64_t inputs, int64_t all, int64_t begin, int64_t outputs);
  /// Errors: bad_input, with all that was wrong.
  Result<void> finish() const;

 private:
  ir::ValueId product(ir::ConstantRef weight, ir::ConstantRef bias, ir::ValueId x);

  ir::Builder& build_;
  const Weights& weights_;
  std::set<std::string> used_;
  std::vector<std::string> missing_, wrong_;
};

}  // namespace tenon::nn
