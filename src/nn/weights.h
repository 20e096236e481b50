// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/constant.h"

namespace tenon::nn {

/// The weights of a checkpoint, named as GGUF names them ("blk.0.attn_q.weight"; readers of other formats translate). A matrix is
/// [outputs, inputs], as PyTorch's Linear has it.
class Weights {
 public:
  virtual ~Weights() = default;
  /// The names of all weights.
  virtual std::vector<std::string> names() const = 0;
  /// nullopt where there is no such weight.
  virtual std::optional<Sizes> shape_of(std::string_view name) const = 0;
  /// The weight as f32, decoded when it is materialised. The name must exist.
  virtual ir::ConstantRef constant(std::string_view name) const = 0;
  /// Of a matrix whose columns are stored in another order than its inputs (GPTQ with desc_act): the input of each column. Empty: column k
  /// is of input k.
  virtual std::vector<int64_t> input_order(std::string_view) const { return {}; }
};

}  // namespace tenon::nn
