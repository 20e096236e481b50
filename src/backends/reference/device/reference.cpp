// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/device/reference.h"

#include <algorithm>

#include "ir/text.h"
#include "ops/reference/evaluate.h"

namespace tenon::backends::reference {

namespace {

/// The first weights are the graph's last inputs; its text refers to all by number.
class Evaluation final : public runtime::Segment {
 public:
  Evaluation(std::unique_ptr<ir::Graph> graph, ops::HostKernels kernels, std::span<const Tensor> weights)
      : graph_(std::move(graph)), kernels_(std::move(kernels)), weights_(weights.begin(), weights.end()) {}
  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor>, const runtime::RunOptions& options) override {
    std::vector<Tensor> inputs(operands.begin(), operands.end());
    const size_t missing = graph_->inputs().size() - std::min(operands.size(), graph_->inputs().size());
    inputs.insert(inputs.end(), weights_.begin(), weights_.begin() + static_cast<ptrdiff_t>(std::min(missing, weights_.size())));
    ops::EvaluateOptions evaluating;
    evaluating.host_kernels = &kernels_;
    evaluating.random = options.random;
    return ops::evaluate(*graph_, inputs, evaluating);
  }

 private:
  std::unique_ptr<ir::Graph> graph_;
  ops::HostKernels kernels_;
  std::vector<Tensor> weights_;
};

class ReferenceDevice final : public runtime::Device {
 public:
  explicit ReferenceDevice(const ir::OpTable& ops) : ops_(ops) {}
  std::string_view name() const override { return "reference"; }
  bool is_fast_to_make() const override { return true; }
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    ir::TextConstants constants;
    for (const Tensor& weight : blob.weights) constants.constants.push_back(ir::constant_of(weight));
    auto graph = TRY(ir::parse(blob.bytes, ops_, &constants));
    auto kernels = TRY(ops::host_kernels_of(*graph));
    return std::make_unique<Evaluation>(std::move(graph), std::move(kernels), blob.weights);
  }

 private:
  const ir::OpTable& ops_;
};

}  // namespace

std::shared_ptr<const runtime::Device> device(const ir::OpTable& ops) { return std::make_shared<ReferenceDevice>(ops); }

}  // namespace tenon::backends::reference
