// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/device/reference.h"

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::backends::reference {

namespace {

class ReferenceOp final : public runtime::OpaqueOp {
 public:
  explicit ReferenceOp(std::unique_ptr<ir::Graph> graph) : graph_(std::move(graph)) {}
  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    std::vector<Tensor> in;
    for (const Tensor* t : inputs) in.push_back(t ? *t : Tensor());
    return ops::evaluate(*graph_, in);
  }

 private:
  std::unique_ptr<ir::Graph> graph_;
};

class ReferenceDevice final : public runtime::OpaqueDevice {
 public:
  explicit ReferenceDevice(const ir::OpTable& ops) : ops_(ops) {}
  Result<std::unique_ptr<runtime::OpaqueOp>> make(std::string_view text) const override {
    auto graph = TRY(ir::parse(text, ops_));
    return std::make_unique<ReferenceOp>(std::move(graph));
  }

 private:
  const ir::OpTable& ops_;
};

}  // namespace

std::shared_ptr<const runtime::OpaqueDevice> device(const ir::OpTable& ops) { return std::make_shared<ReferenceDevice>(ops); }

}  // namespace tenon::backends::reference
