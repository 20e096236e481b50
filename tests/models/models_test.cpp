// SPDX-License-Identifier: Apache-2.0
// Graphs as PyTorch's exporters write them (tools/models/make_models.py), without their weights (tools/models/strip_weights.py): imported,
// compiled, run, and compared with the evaluation by reference in fp64 of the graph as it was imported.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/compile.h"
#include "import/onnx_export.h"
#include "import/onnx_import.h"
#include "ops/reference/evaluate.h"
#include "passes/pipeline.h"
#include "weights.h"

namespace tenon::tests {
namespace {

using Counts = std::map<std::string, int>;

struct Model {
  const char* name;
  Counts fused;  ///< nodes of the optimised graph; other ops of kWatched: none
  int64_t last_token = -1;
};

/// What rules make of exporters' patterns, and what they should leave none of.
constexpr const char* kWatched[] = {"Attention", "RaggedAttention", "LayerNormalization", "RMSNormalization",
                                    "Gelu",      "RotaryEmbedding", "BatchNormalization", "Softmax",
                                    "Erf"};

/// Floating-point nodes that may run by reference.
constexpr const char* kByReference[] = {"Range"};

const Model kModels[] = {
    {"bert", {{"Attention", 2}, {"Gelu", 2}, {"LayerNormalization", 5}}},              // TorchScript, opset 13
    {"distilbert", {{"RaggedAttention", 2}, {"Gelu", 2}, {"LayerNormalization", 5}}},  // dynamo, 18
    {"t5", {{"Attention", 6}, {"RMSNormalization", 12}}},                              // dynamo, 25
    {"gpt2", {{"Attention", 2}, {"Gelu", 2}, {"LayerNormalization", 5}}},              // dynamo, 25
    {"llama", {{"Attention", 2}, {"RMSNormalization", 5}, {"RotaryEmbedding", 4}}},    // dynamo, 18
    {"qwen2", {{"Attention", 2}, {"RMSNormalization", 5}, {"RotaryEmbedding", 4}}},    // TorchScript, 17
    {"vit", {{"Attention", 2}, {"Gelu", 2}, {"LayerNormalization", 5}}},               // TorchScript, 13
    {"swin", {{"Attention", 4}, {"Gelu", 4}, {"LayerNormalization", 11}}},             // dynamo, 18
    {"clip", {{"Attention", 4}, {"LayerNormalization", 11}}, 103},  // dynamo, 25; what it says of a text stands at its last token
    {"resnet", {}},                                                 // dynamo, 25
    {"mobilenetv2", {}},                                            // TorchScript, 17
    {"convnext", {{"Gelu", 5}, {"LayerNormalization", 10}}},        // dynamo, 18
    {"unet", {}},                                                   // TorchScript, 17
    {"whisper", {{"Attention", 6}, {"Gelu", 6}, {"LayerNormalization", 12}}},  // dynamo, 18
    {"yolo", {{"Softmax", 3}}},                                                // TorchScript, 17
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

/// A folder that goes away with it.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("tenon_models_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

double deviation(const Tensor& t) {
  double sum = 0, squares = 0, count = 0;
  for (double v : numbers_of(t)) {
    if (std::isnan(v)) continue;
    sum += v;
    squares += v * v;
    ++count;
  }
  return std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
}

/// Largest distance, in units of the expected values' standard deviation; infinite where one is NaN and the other is not.
double distance(const Tensor& got, const Tensor& want) {
  const auto a = numbers_of(got), b = numbers_of(want);
  double worst = 0;
  for (size_t k = 0; k < b.size(); ++k) {
    if (std::isnan(a[k]) != std::isnan(b[k])) return INFINITY;
    if (a[k] != b[k] && !std::isnan(a[k])) worst = std::max(worst, std::fabs(a[k] - b[k]));
  }
  return worst / deviation(want);
}

struct Expected {
  std::vector<Tensor> inputs, own, wide;
};

class Models : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    const std::filesystem::path file = std::filesystem::path(TENON_TEST_DATA) / (std::string(GetParam().name) + ".onnx");
    auto written = write_weights(file, folder_.path);
    ASSERT_TRUE(written) << written.error().text();
    import::ImportOptions options;
    options.external_data_dir = folder_.path;
    auto imported = import::import_onnx(file, options);
    ASSERT_TRUE(imported) << imported.error().text();
    graph_ = std::move(imported->graph);
  }

  void expect_answers(int round) {
    Expected e{draw_inputs(*graph_, round, GetParam().last_token), {}, {}};
    auto own = ops::evaluate(*graph_, e.inputs);
    ASSERT_TRUE(own) << own.error().text();
    ops::EvaluateOptions in_wide;
    in_wide.mode = ops::Mode::wide;
    auto wide = ops::evaluate(*graph_, e.inputs, in_wide);
    ASSERT_TRUE(wide) << wide.error().text();
    e.own = std::move(*own);
    e.wide = std::move(*wide);
    for (const Tensor& t : e.wide) EXPECT_GT(deviation(t), 0.03) << "an answer that is much the same everywhere proves nothing";
    expected_.push_back(std::move(e));
  }

  /// Where there is a mask, taking it away must change the answers by far more than what compare() lets pass.
  void expect_masks_to_matter() {
    std::vector<Tensor> inputs = expected_[1].inputs;
    bool masked = false;
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (graph_->value(graph_->inputs()[k]).name.find("mask") == std::string::npos) continue;
      inputs[k] = *Tensor::make(inputs[k].dtype(), inputs[k].shape());
      for (int64_t i = 0; i < inputs[k].count(); ++i) inputs[k].set_integer(i, 1);
      masked = true;
    }
    if (!masked) return;
    auto open = ops::evaluate(*graph_, inputs);
    ASSERT_TRUE(open) << open.error().text();
    double most = 0;
    for (size_t k = 0; k < open->size(); ++k) most = std::max(most, distance((*open)[k], expected_[1].wide[k]));
    EXPECT_GT(most, 0.01);
  }

  void compare(const Expected& e, std::span<const Tensor> got, int opt) {
    ASSERT_EQ(got.size(), e.wide.size());
    for (size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(type_text(got[k].dtype(), got[k].shape()), type_text(e.own[k].dtype(), e.own[k].shape()));
      if (is_float(got[k].dtype()))
        EXPECT_LE(distance(got[k], e.wide[k]), 1e-4) << graph_->output_name(static_cast<uint32_t>(k)) << " at opt " << opt;
      else EXPECT_EQ(integers_of(got[k]), integers_of(e.own[k])) << graph_->output_name(static_cast<uint32_t>(k)) << " at opt " << opt;
    }
  }

  void check_opaque(const runtime::Program& program) {
    for (const runtime::Step& step : program.steps) {
      if (!runtime::is<runtime::SegmentStep>(step) || std::ranges::count(kByReference, step.label) > 0) continue;
      for (uint32_t b : step.results)
        EXPECT_FALSE(b != runtime::kMissing && is_float(program.buffers[b].dtype)) << step.label << " runs by reference";
    }
  }

  void check_fusion(const ir::Graph& graph) {
    Counts found;
    for (ir::NodeId n : graph.nodes())
      if (std::ranges::count(kWatched, graph.node(n).op->name) > 0) ++found[graph.node(n).op->name];
    EXPECT_EQ(found, GetParam().fused);
  }

  /// Bytes of intermediate values for one text of that length, without padding.
  static int64_t planned_bytes(const runtime::Program& program, int64_t sequence) {
    std::vector<std::vector<int64_t>> shapes;
    for (const runtime::PortInfo& port : program.inputs) {
      auto& shape = shapes.emplace_back();
      for (const std::string& d : port.dimensions)
        shape.push_back(std::isdigit(d[0]) ? std::stoll(d) : d.find("sequence") != std::string::npos ? sequence : 1);
    }
    std::vector<int64_t> sizes;
    const auto evaluated = runtime::evaluate_sizes(program, 0, program.input_lines, {shapes, {}}, sizes);
    EXPECT_TRUE(evaluated) << evaluated.error().text();
    if (!evaluated) return 0;
    const auto lines = static_cast<uint32_t>(program.sizes.size());
    for (const runtime::Step& step : program.steps)
      if (runtime::is<runtime::RowsStep>(step)) sizes[step.bindings[0].slot] = sequence;
    EXPECT_TRUE(runtime::evaluate_sizes(program, program.input_lines, lines, {shapes, {}}, sizes));
    return static_cast<int64_t>(runtime::lay_out(program, sizes)->bytes +
                                runtime::lay_out_late(program, program.input_lines, lines, sizes)->bytes);
  }

  /// No score of a pair of tokens is stored, nor a mask of them.
  static void expect_linear_memory(const runtime::Program& program) {
    const int64_t first = planned_bytes(program, 256), second = planned_bytes(program, 512), third = planned_bytes(program, 1024);
    EXPECT_LE(static_cast<double>(third - second), 2.2 * static_cast<double>(second - first));
  }

  void compile_and_compare(int opt) {
    compiler::CompileOptions options;
    options.opt = opt;
    options.verify = true;
    auto compiled = compiler::compile(graph_->clone(), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    check_opaque(compiled->built.programs[0]);
    if (opt == 3) {
      check_fusion(*compiled->graph);
      expect_linear_memory(compiled->built.programs[0]);
    }
    auto engine = compiler::load_compiled(std::move(*compiled));
    ASSERT_TRUE(engine) << engine.error().text();
    auto context = *runtime::Context::create(*engine);
    for (const Expected& e : expected_) {
      auto got = context->run(e.inputs);
      ASSERT_TRUE(got) << got.error().text();
      compare(e, *got, opt);
    }
  }

  /// As the graph says it at `opset` after rewriting, read back.
  void export_and_compare(int opt, int64_t opset) {
    auto graph = graph_->clone();
    passes::Options rewriting;
    rewriting.level = opt;
    ASSERT_TRUE(passes::optimise(*graph, rewriting));
    import::ExportOptions options;
    options.opset = opset;
    const std::filesystem::path file = folder_.path / "again.onnx";
    auto written = import::export_onnx(*graph, file, options);
    ASSERT_TRUE(written) << written.error().text();
    auto back = import::import_onnx(file);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->opsets[0].second, opset);
    ops::EvaluateOptions wide;
    wide.mode = ops::Mode::wide;
    auto got = ops::evaluate(*back->graph, expected_[1].inputs, wide);
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < got->size(); ++k)
      if (is_float(expected_[1].own[k].dtype()))
        EXPECT_LE(distance((*got)[k], expected_[1].wide[k]), 1e-4) << "opt " << opt << ", opset " << opset;
  }

  Folder folder_;
  std::unique_ptr<ir::Graph> graph_;
  std::vector<Expected> expected_;
};

TEST_P(Models, AnswerAsTheReferenceDoes) {
  for (int round : {0, 1})
    if (!HasFatalFailure()) expect_answers(round);
  if (!HasFatalFailure()) expect_masks_to_matter();
  for (int opt : {0, 3})
    if (!HasFatalFailure()) compile_and_compare(opt);
}

TEST_P(Models, AreSaidAtOlderOpsets) {
  for (int round : {0, 1})
    if (!HasFatalFailure()) expect_answers(round);
  for (int opt : {0, 3})
    if (!HasFatalFailure()) export_and_compare(opt, 13);
}

INSTANTIATE_TEST_SUITE_P(Exported, Models, testing::ValuesIn(kModels), [](const auto& model) { return model.param.name; });

}  // namespace
}  // namespace tenon::tests
