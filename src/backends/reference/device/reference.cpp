// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/device/reference.h"

#include "ir/text.h"
#include "ops/reference/evaluate.h"

namespace tenon::backends::reference {

namespace {

class Evaluation final : public runtime::Segment {
 public:
  explicit Evaluation(std::unique_ptr<ir::Graph> graph) : graph_(std::move(graph)) {}
  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor>, const runtime::RunOptions&) override {
    return ops::evaluate(*graph_, operands);
  }

 private:
  std::unique_ptr<ir::Graph> graph_;
};

class ReferenceDevice final : public runtime::Device {
 public:
  explicit ReferenceDevice(const ir::OpTable& ops) : ops_(ops) {}
  std::string_view name() const override { return "reference"; }
  Result<std::unique_ptr<runtime::Segment>> make(std::string_view blob) const override {
    return std::make_unique<Evaluation>(TRY(ir::parse(blob, ops_)));
  }

 private:
  const ir::OpTable& ops_;
};

}  // namespace

std::shared_ptr<const runtime::Device> device(const ir::OpTable& ops) { return std::make_shared<ReferenceDevice>(ops); }

}  // namespace tenon::backends::reference
