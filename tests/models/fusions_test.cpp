// SPDX-License-Identifier: Apache-2.0
// No fusion goes dark: five families as both exporters write them, at the opsets they were exported at and brought to every newer one,
// keep their fused ops.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "import/onnx_export.h"
#include "import/onnx_import.h"
#include "passes/pipeline.h"
#include "weights.h"

namespace tenon::tests {
namespace {

using Counts = std::map<std::string, int>;

struct Family {
  const char* name;
  Counts fused;
};

const Family kFamilies[] = {
    {"bert", {{"Attention", 2}, {"Gelu", 2}, {"LayerNormalization", 5}}},
    {"gpt2", {{"Attention", 2}, {"Gelu", 2}, {"LayerNormalization", 5}}},
    {"llama", {{"Attention", 2}, {"RMSNormalization", 5}, {"RotaryEmbedding", 4}, {"Swish", 2}}},
    {"qwen2", {{"Attention", 2}, {"RMSNormalization", 5}, {"RotaryEmbedding", 4}, {"Swish", 2}}},
    {"vit", {{"Attention", 2}, {"Gelu", 2}, {"LayerNormalization", 5}}},
};
/// Fused ops, and what stays where one was missed.
constexpr const char* kWatched[] = {
    "Attention", "LayerNormalization", "RMSNormalization", "Gelu", "RotaryEmbedding", "Swish", "Softmax", "Erf", "Sigmoid"};

struct Export {
  const char* exporter;
  int64_t opset;
};
constexpr Export kExports[] = {{"torchscript", 13}, {"torchscript", 17}, {"dynamo", 18}, {"dynamo", 25}};
constexpr int64_t kNewest = 25;

struct Case {
  const Family* family;
  Export exported;
  const char* rules;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Family& family : kFamilies)
    for (const Export& e : kExports)
      for (const char* rules : {"tenon", "default"}) all.push_back({&family, e, rules});
  return all;
}

/// The set default leaves x * sigmoid(x) alone: runtimes have it under other names, or not at all.
Counts expected(const Counts& fused, const std::string& rules) {
  Counts out = fused;
  if (rules != "default") return out;
  if (auto swish = out.extract("Swish"); !swish.empty()) out["Sigmoid"] = swish.mapped();
  return out;
}

class Fusions : public testing::TestWithParam<Case> {
 protected:
  Fusions() : folder_(std::filesystem::temp_directory_path() / fmt::format("tenon_fusions_{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Fusions() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<ir::Graph> import(const std::filesystem::path& file) {
    import::ImportOptions options;
    options.external_data_dir = folder_;
    auto imported = import::import_onnx(file, options);
    EXPECT_TRUE(imported) << imported.error().text();
    return imported ? std::move(imported->graph) : nullptr;
  }

  static Counts fused(ir::Graph& graph, const std::string& rules) {
    passes::Options options;
    options.level = 3;
    options.rule_selection = rules;
    const auto done = passes::optimise(graph, options);
    EXPECT_TRUE(done) << done.error().text();
    Counts found;
    for (ir::NodeId n : graph.nodes())
      if (std::ranges::count(kWatched, graph.node(n).op->name) > 0) ++found[graph.node(n).op->name];
    return found;
  }

  std::filesystem::path folder_;
};

TEST_P(Fusions, AreFoundAtEveryOpset) {
  const auto& [family, exported, rules] = GetParam();
  const auto file =
      std::filesystem::path(TENON_TEST_DATA) / "fusions" / fmt::format("{}.{}.{}.onnx", family->name, exported.exporter, exported.opset);
  ASSERT_TRUE(write_weights(file, folder_));
  const auto graph = import(file);
  ASSERT_TRUE(graph);
  EXPECT_EQ(fused(*graph->clone(), rules), expected(family->fused, rules)) << "as exported";
  for (int64_t opset = exported.opset + 1; opset <= kNewest; ++opset) {
    import::ExportOptions options;
    options.opset = opset;
    const auto again = folder_ / "again.onnx";
    const auto written = import::export_onnx(*graph, again, options);
    ASSERT_TRUE(written) << written.error().text();
    const auto back = import(again);
    ASSERT_TRUE(back);
    EXPECT_EQ(fused(*back, rules), expected(family->fused, rules)) << "at opset " << opset;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Fusions, testing::ValuesIn(cases()), [](const auto& info) {
  const Case& c = info.param;
  return fmt::format("{}_{}_{}_{}", c.family->name, c.exported.exporter, c.exported.opset, c.rules);
});

}  // namespace
}  // namespace tenon::tests
