// SPDX-License-Identifier: Apache-2.0
// Who runs what, and what is said of it.
#include <gtest/gtest.h>
#include <tenon/partition.h>
#include <unistd.h>

#include <cstdlib>

namespace {

const std::filesystem::path kModel = std::filesystem::path(TENON_TEST_DATA) / "../../examples/mlp.onnx";

tenon::CompileOptions constraints() {
  tenon::CompileOptions out;
  out.backends = {"cpu", "reference"};
  out.fallback_ops.push_back("Softmax");
  return out;
}

TEST(ApiPartition, ReportIsEqualForFileAndGraph) {
  const auto graph = tenon::Graph::from_onnx(kModel);
  ASSERT_TRUE(graph) << graph.error().text();
  for (const bool build : {false, true}) {
    const auto of_file = tenon::partition(kModel, constraints(), build), of_graph = tenon::partition(*graph, constraints(), build);
    ASSERT_TRUE(of_file) << of_file.error().text();
    EXPECT_EQ(*of_file, of_graph.value());
    EXPECT_NE(of_file->find("fallback-ops Softmax"), std::string::npos);
    EXPECT_EQ(of_file->find("\"peak_bytes\":null") != std::string::npos, !build);
  }
}

TEST(ApiPartition, CompileTakesTheSameConstraints) {
  tenon::CompileOptions options = constraints();
  EXPECT_TRUE(tenon::compile(kModel, options));
  options.require_full = true;
  const auto refused = tenon::compile(kModel, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, tenon::Code::not_supported);
  EXPECT_EQ(tenon::partition(kModel, options).error().text(), refused.error().text());
  options.min_block_size = 0;
  EXPECT_EQ(tenon::compile(kModel, options).error().code, tenon::Code::bad_usage);
}

TEST(ApiPartition, TimesAreMeasuredByAProgram) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("tenon-api-" + std::to_string(getpid()));
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  tenon::CompileOptions options;
  options.backends = {"reference", "cpu"};
  options.measure = true;
  EXPECT_EQ(tenon::partition(kModel, options).error().place, "measure");  // by priority nothing is measured
  options.assign = tenon::Assign::cost;
  options.timing_program = {(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tenon").string(), "time"};
  const auto report = tenon::partition(kModel, options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_GT(std::filesystem::file_size(folder / "tenon/times"), 100U);
  std::filesystem::remove_all(folder);
  for (const std::vector<std::string>& nobody : {std::vector<std::string>{"/bin/true"}, {"/no/such/program"}, {}}) {
    options.timing_program = nobody;
    EXPECT_EQ(tenon::compile(kModel, options).error().code, tenon::Code::bad_usage);
  }
  unsetenv("XDG_CACHE_HOME");
}

/// The library finds the costs that `tenon calibrate` stored, though it is another file than that program.
TEST(ApiPartition, CostsAreThoseThatWereCalibrated) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("tenon-kept-" + std::to_string(getpid()));
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  tenon::CompileOptions options = constraints();
  EXPECT_EQ(tenon::partition(kModel, options, false)->find("\"costs\""), std::string::npos);
  options.assign = tenon::Assign::cost;
  EXPECT_EQ(tenon::partition(kModel, options, false)->find("calibrated"), std::string::npos);
  const std::string program = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tenon").string();
  ASSERT_EQ(std::system((program + " calibrate --backend reference > /dev/null").c_str()), 0);
  const auto report = tenon::partition(kModel, options, false);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_NE(report->find("\"source\":\"calibrated\""), std::string::npos) << *report;
  std::filesystem::remove_all(folder);
  unsetenv("XDG_CACHE_HOME");
}

TEST(ApiPartition, TheWalkIsForTwoBackends) {
  tenon::CompileOptions options = constraints();
  options.segmenter = tenon::Segmenter::walk;
  EXPECT_TRUE(tenon::partition(kModel, options, false));
  EXPECT_TRUE(tenon::compile(kModel, options));
  options.backends = {"cpu"};
  options.fallback_ops.clear();
  EXPECT_EQ(tenon::compile(kModel, options).error().place, "segmenter walk");
}

TEST(ApiPartition, TypesAreNarrowedByTheUsersWord) {
  tenon::CompileOptions options = constraints();
  options.narrow = {{tenon::DType::f64, tenon::DType::f32}, {tenon::DType::i64, tenon::DType::i32}};
  EXPECT_TRUE(tenon::partition(kModel, options));
  options.narrow = {{tenon::DType::f32, tenon::DType::f64}};
  EXPECT_EQ(tenon::compile(kModel, options).error().what, "this narrows nothing");
}

/// The page's snippet, with other names, on an ONNX file.
TEST(ApiPartition, ASpecHasRangesInTheOrderOfInputs) {
  const std::vector<float> elements(32, 0.5F);
  const tenon::Array in({2, 16}, elements);
  auto input_sizes = std::vector<tenon::InputRange>{{in.shape()}};
  tenon::CompileSpec cfg(input_sizes);
  cfg.backends = {"cpu", "reference"};
  cfg.min_block_size = 2;
  cfg.fallback_ops.push_back("Relu");
  const auto compiled = tenon::compile(kModel, cfg);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(compiled->inputs()[0].dimensions[0], "2");
  const auto out = compiled->run({{in}});
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ((*out)[0].shape(), (std::vector<int64_t>{2, 10}));

  cfg.inputs = {{{1, 16}, {4, 16}, {64, 16}}};
  const auto ranged = tenon::compile(kModel, cfg);
  ASSERT_TRUE(ranged) << ranged.error().text();
  EXPECT_EQ(ranged->inputs()[0].lower[0], 1);
  EXPECT_EQ(ranged->inputs()[0].upper[0], 64);
  EXPECT_TRUE(tenon::partition(kModel, cfg, false));
  cfg.inputs = {{{64, 16}, {4, 16}, {1, 16}}};
  EXPECT_EQ(tenon::compile(kModel, cfg).error().code, tenon::Code::bad_usage);
  cfg.inputs.resize(2);
  EXPECT_EQ(tenon::partition(kModel, cfg).error().place, "inputs");
}

}  // namespace
