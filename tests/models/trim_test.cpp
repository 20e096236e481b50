// SPDX-License-Identifier: Apache-2.0
// The last layer of a transformer of which one row is read computes that row alone, as both exporters write it: BERT's pooled output, the
// class token of ViT, the last logits of language models.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "import/onnx_import.h"
#include "ir/builder.h"
#include "passes/pipeline.h"
#include "weights.h"

namespace tenon::tests {
namespace {

struct Family {
  const char* name;
  std::vector<std::string> outputs;  ///< those that are wanted; none: all
  bool last = false;                 ///< of the first output, the last row alone
};

const Family kFamilies[] = {{"bert", {"pooler_output"}}, {"vit", {}}, {"gpt2", {}, true}, {"llama", {}, true}, {"qwen2", {}, true}};
constexpr const char* kExports[] = {"torchscript.13", "torchscript.17", "dynamo.18", "dynamo.25"};

class Trim : public testing::TestWithParam<std::tuple<Family, const char*>> {
 protected:
  Trim() : folder_(std::filesystem::temp_directory_path() / fmt::format("tenon_trim_{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Trim() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<ir::Graph> import(const Family& family, const char* exported) {
    const auto file = std::filesystem::path(TENON_TEST_DATA) / "fusions" / fmt::format("{}.{}.onnx", family.name, exported);
    EXPECT_TRUE(write_weights(file, folder_));
    import::ImportOptions options;
    options.external_data_dir = folder_;
    options.outputs = family.outputs;
    auto imported = import::import_onnx(file, options);
    EXPECT_TRUE(imported) << imported.error().text();
    return imported ? std::move(imported->graph) : nullptr;
  }

  std::filesystem::path folder_;
};

/// How many queries each Attention has.
std::vector<Dim> queries(const ir::Graph& graph) {
  std::vector<Dim> out;
  for (const ir::NodeId n : graph.nodes())
    if (graph.node(n).is("Attention")) out.push_back(graph.value(graph.node(n).inputs[0]).type.dim(2));
  return out;
}

TEST_P(Trim, TheLastLayerHasOneQuery) {
  const auto& [family, exported] = GetParam();
  const auto graph = import(family, exported);
  ASSERT_TRUE(graph);
  if (family.last) {
    ir::Builder build(*graph);
    graph->set_output(0, build("Gather", {graph->outputs()[0], build.scalar(DType::i64, -1)}, {{"axis", int64_t{1}}}));
    ASSERT_TRUE(build.status()) << build.status().error().text();
  }
  for (const bool trims : {true, false}) {
    const auto made = graph->clone();
    passes::Options options;
    options.level = 3;
    if (!trims) options.disabled.insert("trim");
    const auto done = passes::optimise(*made, options);
    ASSERT_TRUE(done) << done.error().text();
    const std::vector<Dim> found = queries(*made);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_FALSE(found[0].known_equal(1));
    EXPECT_EQ(found[1].known_equal(1), trims) << found[1].text();
  }
}

INSTANTIATE_TEST_SUITE_P(All, Trim, testing::Combine(testing::ValuesIn(kFamilies), testing::ValuesIn(kExports)), [](const auto& info) {
  std::string name = fmt::format("{}_{}", std::get<0>(info.param).name, std::get<1>(info.param));
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace
}  // namespace tenon::tests
