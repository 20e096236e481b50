// SPDX-License-Identifier: Apache-2.0
// Models over cpu and a second backend that generates code, in random shares: results have the bits that cpu gives at the same borders.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../backends/second/comparison.h"
#include "../compiler/seeds.h"
#include "import/onnx_import.h"
#include "weights.h"

namespace tenon::tests {
namespace {

class SecondBackendModels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    const auto file = std::filesystem::path(TENON_TEST_DATA) / (std::string(GetParam()) + ".onnx");
    ASSERT_TRUE(write_weights(file, folder_));
    import::ImportOptions options;
    options.external_data_dir = folder_;
    auto imported = import::import_onnx(file, options);
    ASSERT_TRUE(imported) << imported.error().text();
    graph_ = std::move(imported->graph);
  }
  ~SecondBackendModels() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<ir::Graph> graph_;
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("tenon_second_" + std::to_string(getpid()));
};

TEST_P(SecondBackendModels, RandomSharesEqualCpuBitForBit) {
  const uint64_t seed = number_from("TENON_SEED", 1);
  for (unsigned percent : {100u, 60u}) {
    compiler::CompileOptions options;
    options.opt = 3;
    SecondAndTwin both(random_share(seed, percent), options);
    const auto made = both.make(*graph_);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_GT(both.segments(), 0u);
    EXPECT_EQ(both.failed_segments(), 0u) << both.failed_segments_text();
    EXPECT_TRUE(both.compiled_twice().empty()) << fmt::format("{}", fmt::join(both.compiled_twice(), ", "));
    for (int round : {0, 1}) EXPECT_EQ(both.difference(draw_inputs(*graph_, round)), "") << percent << " % of the nodes, round " << round;
    fmt::print("{}: {} % of the nodes, {} segments on second, {} handed back\n", GetParam(), percent, both.segments(),
               both.failed_segments());
  }
}

INSTANTIATE_TEST_SUITE_P(All, SecondBackendModels,
                         testing::Values("bert", "clip", "convnext", "distilbert", "gpt2", "llama", "mobilenetv2", "qwen2", "resnet",
                                         "swin", "t5", "unet", "vit", "whisper", "yolo"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon::tests
