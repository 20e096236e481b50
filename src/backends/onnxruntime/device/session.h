// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "backends/onnxruntime/device/values.h"

namespace tenon::backends::onnxruntime {

/// A model that is ready to run: ONNX with inputs i0, i1, ..., outputs o0, o1, ... and initializers w0, w1, ... whose bytes are elsewhere.
/// Shared between threads.
class LoadedModel {
 public:
  struct Options {
    int threads = 1;
    bool optimise = true;  ///< ONNX Runtime rewrites the model
    bool prepack = true;   ///< ONNX Runtime copies weights into layouts of its own
  };
  /// weights: of w0, w1, ...; read where they lie, but for those that ONNX Runtime computes with before it runs: then all are copied.
  /// Their memory outlives the model. Errors: device_failed with ONNX Runtime's message.
  static Result<std::shared_ptr<const LoadedModel>> make(std::shared_ptr<const Api> api, std::string_view model,
                                                         std::span<const Tensor> weights, const Options& options);

  /// operands, places: as runtime::Segment::run. run: options by which the run can be ended early; may be null.
  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places, const RunOptions* run) const;
  const Api& api() const { return *api_; }

 private:
  LoadedModel() = default;
  enum class Weights : uint8_t { shared, copied };
  Result<void> load(std::string_view model, Weights how, const Options& options);
  Result<void> read_ports();
  Result<void> check_ports(std::span<const Tensor> operands, std::span<const Tensor> places) const;

  std::shared_ptr<const Api> api_;
  std::vector<Tensor> weights_;
  std::vector<Owned<Value>> initializers_;  // outlive the session
  Owned<Session> session_{nullptr, nullptr};
  std::vector<std::string> input_names_, output_names_;
  std::vector<ElementType> output_types_;  ///< 0: no tensor
};

}  // namespace tenon::backends::onnxruntime
