// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "backends/openvino/device/api.h"
#include "base/tensor.h"

namespace tenon::backends::openvino {

/// A compiled model: ONNX with inputs i0, i1, ... and outputs o0, o1, ... Shared between threads.
class LoadedModel {
 public:
  /// weights: of the inputs w0, w1, ..., which become constants; copied. Errors: device_failed with OpenVINO's message.
  static Result<std::shared_ptr<const LoadedModel>> make(std::shared_ptr<const Api> api, std::string_view model,
                                                         std::span<const Tensor> weights, int threads);
  const Api& api() const { return *api_; }
  Result<Owned<Request>> request() const;
  /// Errors: bad_file where a segment has another number of operands or results.
  Result<void> check_ports(size_t operands, size_t results) const;

 private:
  LoadedModel() = default;
  std::shared_ptr<const Api> api_;
  Owned<CompiledModel> compiled_{nullptr, nullptr};
  size_t inputs_ = 0, outputs_ = 0;
};

/// The model with a constant for each of its last inputs w0, w1, ...: messages of protobuf that come after each other are one.
std::string with_weights(std::string_view model, std::span<const Tensor> weights);

}  // namespace tenon::backends::openvino
