// SPDX-License-Identifier: Apache-2.0
// The rule sets that cover yobx's patterns, over exporters' graphs, as they were imported: they settle, the graph stays valid, and its
// answers are the same.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "import/onnx_import.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "rewrite/driver/driver.h"
#include "rules/registry/registry.h"
#include "weights.h"

namespace tenon::tests {
namespace {

constexpr const char* kModels[] = {"bert", "distilbert", "t5",          "gpt2",     "llama", "qwen2",   "vit", "swin",
                                   "clip", "resnet",     "mobilenetv2", "convnext", "unet",  "whisper", "yolo"};

/// Largest distance, in units of the largest expected number; infinite where one is NaN and the other is not.
double distance(const Tensor& got, const Tensor& want) {
  double worst = 0, largest = 1e-30;
  for (int64_t k = 0; k < want.count(); ++k) {
    const double x = got.number(k), y = want.number(k);
    if (std::isnan(x) != std::isnan(y)) return INFINITY;
    if (x == y || std::isnan(x)) continue;
    worst = std::max(worst, std::fabs(x - y));
    largest = std::max(largest, std::isfinite(y) ? std::fabs(y) : 0);
  }
  return worst / largest;
}

class RuleSets : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tenon_rule_sets_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    const std::filesystem::path file = std::filesystem::path(TENON_TEST_DATA) / (std::string(GetParam()) + ".onnx");
    const auto written = write_weights(file, folder_);
    ASSERT_TRUE(written) << written.error().text();
    import::ImportOptions options;
    options.external_data_dir = folder_;
    auto imported = import::import_onnx(file, options);
    ASSERT_TRUE(imported) << imported.error().text();
    graph_ = std::move(imported->graph);
    inputs_ = draw_inputs(*graph_, 0);
    auto wanted = ops::evaluate(*graph_, inputs_, wide());
    ASSERT_TRUE(wanted) << wanted.error().text();
    wanted_ = std::move(*wanted);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static ops::EvaluateOptions wide() {
    ops::EvaluateOptions options;
    options.mode = ops::Mode::wide;
    return options;
  }

  void run(const std::string& expression) {
    SCOPED_TRACE(expression);
    const auto graph = graph_->clone();
    for (rewrite::Stage last : {rewrite::Stage::clean, rewrite::Stage::fuse, rewrite::Stage::trim, rewrite::Stage::combine}) {
      std::vector<const rewrite::Rule*> chosen;
      for (const rules::Entry& e : *rules::select(expression))
        if (e.stage <= last) chosen.push_back(e.rule);
      const auto set = rewrite::RuleSet::make(chosen, ops::table());
      ASSERT_TRUE(set) << set.error().text();
      const auto stats = rewrite::rewrite(*graph, *set);
      ASSERT_TRUE(stats) << stats.error().text();
      for (const std::string& report : stats->reports) ADD_FAILURE() << report;
      const auto ok = ir::verify(*graph);
      ASSERT_TRUE(ok) << ok.error().text();
    }
    if (expression == "default") EXPECT_LE(graph->node_count(), graph_->node_count());  // tenon takes Gemm apart
    const auto got = ops::evaluate(*graph, inputs_, wide());
    ASSERT_TRUE(got) << got.error().text();
    for (size_t i = 0; i < wanted_.size(); ++i) {
      ASSERT_EQ((*got)[i].shape(), wanted_[i].shape());
      EXPECT_LE(distance((*got)[i], wanted_[i]), 1e-4) << graph_->output_name(static_cast<uint32_t>(i));
    }
  }

  std::filesystem::path folder_;
  std::unique_ptr<ir::Graph> graph_;
  std::vector<Tensor> inputs_, wanted_;
};

TEST_P(RuleSets, SettleAndKeepAnswers) {
  run("default");
  run("tenon+default");
}

INSTANTIATE_TEST_SUITE_P(Families, RuleSets, testing::ValuesIn(kModels),
                         [](const testing::TestParamInfo<const char*>& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon::tests
