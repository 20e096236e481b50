// SPDX-License-Identifier: Apache-2.0
// Every sample of every op as a segment of each backend whose library is here, against the reference.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "../compiler/helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "peers.h"

namespace tenon::tests {
namespace {

/// Where a backend computes something else than ONNX says, or less exactly, or refuses a case only when it runs. "backend_Op.sample".
struct Deviation {
  std::string_view which, why;
};
constexpr Deviation kDeviations[] = {
    {"onnxruntime_Cast.11", "out of range, which ONNX leaves open"},
    {"onnxruntime_ContribDynamicQuantizeLSTM.0", "rounds parts of the batch by their own ranges with several threads"},
    {"onnxruntime_ContribQLinearSoftmax.0", "rounds f32"},
    {"onnxruntime_ContribQLinearSoftmax.1", "rounds f32"},
    {"openvino_AveragePool.9", "refuses a window larger than an image of open size"},
    {"openvino_Shrink.5", "keeps NaN, which ONNX's comparisons turn into 0"},
};

bool deviates(const std::string& which) {
  return std::ranges::any_of(kDeviations, [&](const Deviation& d) { return d.which == which; });
}

/// One op on one backend.
struct Case {
  std::string backend;
  const ops::OpDef* def;
  std::string name() const { return backend + "_" + (def->domain == "com.microsoft" ? "Contrib" : "") + std::string(def->name); }
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name(); }

class BackendSamples : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    backends_ = with_peer(GetParam().backend);
    if (backends_.empty()) GTEST_SKIP() << "needs the library of " << GetParam().backend;
  }

  Result<std::vector<Tensor>> results(const ir::Graph& graph, std::span<const Tensor> inputs) {
    compiler::CompileOptions options;
    options.opt = 0;
    options.registry = peers();
    options.backends = backends_;
    auto compiled = TRY(compiler::compile(graph.clone(), options));
    const auto& blobs = compiled.built.programs[0].blobs;
    EXPECT_TRUE(std::ranges::any_of(blobs, [&](const runtime::Blob& b) { return b.device == GetParam().backend; }));
    auto context = TRY(runtime::Context::create(TRY(compiler::load_compiled(std::move(compiled)))));
    return compiler::testing::copied_results(*context, inputs);
  }

  void check(const ops::OpDef& def, std::string_view text, bool symbolic) {
    const auto sample = ops::parse_sample(def, text);
    ASSERT_TRUE(sample) << sample.error().text();
    const auto made = ops::build_sample(def, *sample, 1, symbolic);
    if (!made) return;  // needs a size: tests/compiler counts those
    if (const auto taken = backends_[0]->supports(*made->graph, made->node); !taken) {
      ASSERT_EQ(taken.error().code(), Code::not_supported) << taken.error().text();
      ASSERT_NE(taken.error()->what.find(def.name), std::string::npos) << taken.error().text();
      return;
    }
    const auto want = ops::evaluate(*made->graph, made->inputs);
    ASSERT_TRUE(want) << want.error().text();
    const auto got = results(*made->graph, made->inputs);
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_EQ(got->size(), want->size());
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(compiler::testing::difference((*want)[k], (*got)[k]), "") << "result " << k;
  }

  backend::Backends backends_;
};

TEST_P(BackendSamples, AgreeWithTheReference) {
  const ops::OpDef& def = *GetParam().def;
  if (!def.deterministic) return;
  for (size_t k = 0; k < def.samples.size(); ++k)
    for (const bool symbolic : {false, true}) {
      const std::string which = fmt::format("{}.{}", GetParam().name(), k);
      SCOPED_TRACE(fmt::format("{}{}: {}", which, symbolic ? ", symbolic sizes" : "", def.samples[k]));
      if (!deviates(which)) check(def, def.samples[k], symbolic);
    }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const std::string backend : {"onnxruntime", "openvino"})
    for (const ops::OpDef* def : ops::all_ops()) out.push_back({backend, def});
  return out;
}
INSTANTIATE_TEST_SUITE_P(Peers, BackendSamples, testing::ValuesIn(cases()), [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace tenon::tests
