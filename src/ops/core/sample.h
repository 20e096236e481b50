// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// One operand of a sample: missing, a constant with given values, or a random tensor.
struct SampleOperand {
  bool present = true;
  DType dtype = DType::f32;
  Sizes shape;
  std::optional<Tensor> value;
  double low = -2, high = 2;
};

/// A sample's text taken apart: "f32[2,3], i64[2] = [1, 0], _; axis=1, outputs=2".
struct Sample {
  std::vector<SampleOperand> operands;
  ir::Attributes attributes;
  size_t outputs = 1;
};
/// Errors: bad_graph with the offending part; bad_attribute for an attribute that the op lacks.
Result<Sample> parse_sample(const OpDef& def, std::string_view text);

/// A sample as a graph of one node. Operands with values are constants, the others graph inputs.
struct SampleCase {
  std::unique_ptr<ir::Graph> graph;
  ir::NodeId node;
  std::vector<Tensor> inputs;    ///< one a graph input
  std::vector<Tensor> operands;  ///< one an operand; empty handle: missing
};
/// symbolic: sizes over 1 of graph inputs become symbols "nSIZE" (equal sizes share one). constants: false makes given values
/// graph inputs too. ops: where the op is found, and those of its definition; outlives the graph. Inference has run. Errors: as inference.
Result<SampleCase> build_sample(const OpDef& def, const Sample& sample, uint64_t seed, bool symbolic = false, bool constants = true,
                                const ir::OpTable& ops = table());
/// Uniform values in [low, high]; bool: 0 or 1; unsigned: from max(low, 0).
Result<Tensor> random_tensor(DType dtype, Sizes shape, uint64_t seed, double low = -2, double high = 2);

}  // namespace tenon::ops
