// SPDX-License-Identifier: Apache-2.0
// Models over two backends: all that another one takes, and every other node of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <map>

#include "../backends/peers.h"
#include "../compiler/every_other.h"
#include "compiler/compile.h"
#include "import/onnx_import.h"
#include "ops/reference/evaluate.h"
#include "weights.h"

namespace tenon::tests {
namespace {

struct Case {
  std::string model, backend;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.model << " on " << c.backend; }

/// In units of the expected values' standard deviation.
double distance(const Tensor& got, const Tensor& want) {
  const std::vector<double> a = numbers_of(got), b = numbers_of(want);
  double sum = 0, squares = 0, worst = 0;
  for (double v : b) sum += v, squares += v * v;
  const double mean = sum / static_cast<double>(b.size());
  for (size_t k = 0; k < b.size(); ++k) worst = std::max(worst, std::fabs(a[k] - b[k]));
  return worst / std::sqrt(std::max(1e-12, squares / static_cast<double>(b.size()) - mean * mean));
}

class ModelSegments : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    backends_ = with_peer(GetParam().backend);
    if (backends_.empty()) GTEST_SKIP() << "needs the library of " << GetParam().backend;
    std::filesystem::create_directories(folder_);
    const auto file = std::filesystem::path(TENON_TEST_DATA) / (GetParam().model + ".onnx");
    ASSERT_TRUE(write_weights(file, folder_));
    import::ImportOptions options;
    options.external_data_dir = folder_;
    auto imported = import::import_onnx(file, options);
    ASSERT_TRUE(imported) << imported.error().text();
    graph_ = std::move(imported->graph);
    ops::EvaluateOptions wide;
    wide.mode = ops::Mode::wide;
    for (int round : {0, 1}) {
      inputs_.push_back(draw_inputs(*graph_, round));
      auto want = ops::evaluate(*graph_, inputs_.back(), wide);
      ASSERT_TRUE(want) << want.error().text();
      want_.push_back(std::move(*want));
    }
  }
  ~ModelSegments() override { std::filesystem::remove_all(folder_); }

  void expect_answers(const backend::Backends& backends, int opt, const std::vector<std::string>& fallback_ops = {}) {
    compiler::CompileOptions options;
    options.opt = opt;
    options.constraints.listed = backends.size() - 1;  // what is left is for the reference
    options.constraints.fallback_ops = fallback_ops;
    options.registry = peers();
    options.backends = backends;
    auto compiled = compiler::compile(graph_->clone(), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    EXPECT_GT(std::ranges::count(compiled->built.programs[0].blobs, GetParam().backend, &runtime::Blob::device), 0);
    const auto engine = compiler::load_compiled(std::move(*compiled));
    ASSERT_TRUE(engine) << engine.error().text();
    const auto context = *runtime::Context::create(*engine);
    for (size_t round = 0; round < want_.size(); ++round) {
      const auto got = context->run(inputs_[round]);
      ASSERT_TRUE(got) << got.error().text();
      for (size_t k = 0; k < got->size(); ++k) {
        ASSERT_EQ((*got)[k].shape(), want_[round][k].shape());
        if (is_float((*got)[k].dtype())) EXPECT_LE(distance((*got)[k], want_[round][k]), 1e-4) << "result " << k << ", opt " << opt;
      }
    }
  }

  backend::Backends backends_;
  std::unique_ptr<ir::Graph> graph_;
  std::vector<std::vector<Tensor>> inputs_, want_;
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("tenon_segments_" + std::to_string(getpid()));
};

/// As ResNet's Add and MobileNet's clipping in the tests of Torch-TensorRT.
TEST_P(ModelSegments, WithOneOpOnTheFallbackDoToo) {
  const std::map<std::string, std::string> ops = {{"bert", "Erf"}, {"gpt2", "Tanh"}, {"mobilenetv2", "Clip"}, {"unet", "MaxPool"}};
  const auto own = ops.find(GetParam().model);
  expect_answers(backends_, 3, {own == ops.end() ? "Add" : own->second});
}

TEST_P(ModelSegments, AnswerAsTheReferenceDoes) {
  for (int opt : {0, 3}) expect_answers(backends_, opt);
}

TEST_P(ModelSegments, OfEveryOtherNodeDoToo) {
  const Some some(GetParam().backend, *backends_[0], [](const ir::Graph&, ir::NodeId n) { return n.slot() % 2 == 0; });
  expect_answers({&some, backends_[1], backends_[2]}, 3);
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* backend : {"onnxruntime", "openvino"})
    for (const char* model : {"bert", "clip", "convnext", "distilbert", "gpt2", "llama", "mobilenetv2", "qwen2", "resnet", "swin", "t5",
                              "unet", "vit", "whisper", "yolo"})
      out.push_back({model, backend});
  return out;
}
INSTANTIATE_TEST_SUITE_P(Peers, ModelSegments, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.model + "_" + info.param.backend; });

}  // namespace
}  // namespace tenon::tests
