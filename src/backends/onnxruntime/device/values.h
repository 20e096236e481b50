// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "backends/onnxruntime/device/api.h"
#include "base/tensor.h"

namespace tenon::backends::onnxruntime {

/// A tensor as ONNX Runtime sees it, over the same bytes, which it only reads where it is an operand; strings are copied.
Result<Owned<Value>> value_over(const Api& api, const Tensor& tensor);

/// A tensor that ONNX Runtime made, which keeps it; strings are copied. So is what lies in one of `weights`, whose memory the tensor may
/// outlive. Errors: not_supported for a value that is no tensor.
Result<Tensor> tensor_from(std::shared_ptr<const Api> api, Owned<Value> value, std::span<const Tensor> weights);

}  // namespace tenon::backends::onnxruntime
