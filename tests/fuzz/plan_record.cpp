// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become the record of a plan that is written and read again, and whose kernels are predicted, or one error.
#include <cstdint>
#include <cstdlib>

#include "codegen/cost/predict.h"
#include "compiler/plan_record.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace {

using namespace tenon;

std::unique_ptr<ir::Graph> structure() {
  constexpr const char* kText =
      "graph main(x: f32[batch,16]) { a: f32[batch,16] = Relu(x) y: f32[batch,16] = Softmax(a, axis=1) return y }";
  return *ir::parse_structure(kText, ops::table());
}

void predict_all(const compiler::PlanRecord& record, const codegen::Target& target) {
  for (const codegen::Work& work : record.work_of_step) {
    const auto known = with_sizes(work, [](const DimNode&) { return Dim(7); });
    if (!known) continue;
    codegen::predict(*known, {}, target, default_machine(target, 4));
    codegen::tiling_text(*known, target);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const codegen::Target& target = **codegen::target_named("x86_avx512_bf16");
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto graph = structure(), other = structure();
  const std::vector<ir::Graph*> graphs{graph.get(), other.get()};
  if (const auto records = compiler::decode_plan_records(bytes, graphs, target))
    for (const compiler::PlanRecord& each : *records) predict_all(each, target);
  const auto record = compiler::decode_plan_record(bytes, *graph, target);
  if (!record) {
    if (record.error().code() == Code::internal) std::abort();
    return 0;
  }
  predict_all(*record, target);
  const std::string once = encode(*record, *graph);
  const auto again = compiler::decode_plan_record(once, *graph, target);
  if (!again || encode(*again, *graph) != once) std::abort();
  return 0;
}
