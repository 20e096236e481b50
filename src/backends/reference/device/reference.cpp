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
  Result<std::unique_ptr<runtime::OpaqueOp>> make(std::string_view text) const override {
    auto graph = TRY(ir::parse(text, ops::table()));
    return std::make_unique<ReferenceOp>(std::move(graph));
  }
};

}  // namespace

const runtime::OpaqueDevice& device() {
  static const ReferenceDevice one;
  return one;
}

}  // namespace tenon::backends::reference
