// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/tensor.h"
#include "ir/constant.h"

namespace tenon::backend {

/// Tensors of zeros with the types of given constants. All share one block of memory, whose pages are allocated only when they are read.
class Zeros {
 public:
  /// Errors: out_of_memory.
  static Result<Zeros> make(std::span<const ir::ConstantRef> constants);
  std::span<const Tensor> tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
};

}  // namespace tenon::backend
