// SPDX-License-Identifier: Apache-2.0
// Ops of plugin libraries, compiled, loaded, and read as graphs.
#include <gtest/gtest.h>
#include <tenon/partition.h>

#include <cmath>

namespace {

const std::filesystem::path kModel = std::filesystem::path(TENON_TEST_DATA) / "../../examples/plugins/model.onnx";
const std::filesystem::path kSwish = TENON_SWISH, kOtherSwish = TENON_OTHER_SWISH, kOps = TENON_OPS, kHarm = TENON_HARM;
constexpr const char* kText = "graph main(x: f32[n,3]) { y = acme::Swish(x, beta=1.5) return y }";

std::vector<float> swished(const tenon::Engine& engine) {
  const std::vector<float> x{-1, 0, 2, 3, -4, 5};
  const auto y = engine.run(std::vector{tenon::Array({2, 3}, x)});
  EXPECT_TRUE(y) << y.error().text();
  if (!y) return {};
  const auto values = (*y)[0].as<float>();
  return {values.begin(), values.end()};
}

void expect_swish(const tenon::Result<tenon::Engine>& engine) {
  ASSERT_TRUE(engine) << engine.error().text();
  const auto y = swished(*engine);
  ASSERT_EQ(y.size(), 6U);
  EXPECT_NEAR(y[2], 2 / (1 + std::exp(-3.0)), 1e-6);
  EXPECT_EQ(y[1], 0);
}

std::filesystem::path saved_engine() {
  const auto path = std::filesystem::path(testing::TempDir()) / "swish.tenon";
  const auto graph = tenon::Graph::parse(kText, std::vector{kSwish});
  EXPECT_TRUE(graph) << graph.error().text();
  const auto engine = tenon::compile(*graph, {.plugins = {kSwish}});
  EXPECT_TRUE(engine && engine->save(path));
  return path;
}

TEST(ApiPlugins, AModelIsCompiledWithThoseThatAreNamed) {
  const auto without = tenon::compile(kModel);
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().code, tenon::Code::not_supported);
  const auto with = tenon::compile(kModel, {.plugins = {kSwish}});
  EXPECT_TRUE(with) << with.error().text();
  const auto report = tenon::partition(kModel, {.plugins = {kSwish}});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_NE(report->find("\"backend\":\"plugin\""), std::string::npos);
  tenon::CompileSpec spec({{{1, 8}}});
  spec.plugins = {kSwish};
  EXPECT_TRUE(tenon::compile(kModel, spec));
}

TEST(ApiPlugins, AKernelIsPreferred) {
  constexpr const char* kRelu = "graph main(x: f32[2,3]) { y = Relu(x) return y }";
  const auto graph = tenon::Graph::parse(kRelu);
  ASSERT_TRUE(graph);
  const auto engine = tenon::compile(*graph, {.plugins = {kOps}, .prefer = {"test::NegativeRelu"}});
  ASSERT_TRUE(engine) << engine.error().text();
  EXPECT_EQ(swished(*engine), (std::vector<float>{1, 0, 0, 0, 4, 0})) << "the kernel computes relu(-x)";
  const auto unknown = tenon::compile(*graph, {.plugins = {kOps}, .prefer = {"test::NegativeRlu"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, tenon::Code::bad_usage);
  EXPECT_NE(unknown.error().advice.find("test::NegativeRelu"), std::string::npos) << unknown.error().text();
}

TEST(ApiPlugins, AGraphHasTheirOpsAndOutlivesTheCall) {
  EXPECT_FALSE(tenon::Graph::parse(kText));
  const auto graph = tenon::Graph::parse(kText, std::vector{kSwish});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_NE(graph->text()->find("acme::Swish"), std::string::npos);
  expect_swish(tenon::compile(*graph, {.plugins = {kSwish}}));
  expect_swish(tenon::compile(*graph));  // by its definition: no plugin was named
  EXPECT_TRUE(tenon::Graph::from_onnx(kModel, {.plugins = {kSwish, kOps}}));
}

TEST(ApiPlugins, AnEngineIsLoadedWithThoseThatAreNamed) {
  const auto path = saved_engine();
  const auto without = tenon::Engine::load(path);
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().found.find("acme::Swish, version 1, of library swish: not there"), std::string::npos) << without.error().text();
  EXPECT_FALSE(tenon::Engine::load(path, {.plugins = {kOps}}));
  expect_swish(tenon::Engine::load(path, {.plugins = {kOps, kSwish}}));
}

TEST(ApiPlugins, OtherBuildNeedsAnOption) {
  const auto path = saved_engine();
  const auto refused = tenon::Engine::load(path, {.plugins = {kOtherSwish}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().found.find("another build"), std::string::npos) << refused.error().text();
  expect_swish(tenon::Engine::load(path, {.plugins = {kOtherSwish}, .plugin_any_build = true}));
}

TEST(ApiPlugins, AnEngineOutlivesItsIsolatedPlugins) {
  expect_swish(tenon::Engine::load(saved_engine(), {.plugins = {kSwish}, .isolate_plugins = true}));
  const auto graph = tenon::Graph::parse("graph main(x: f32[n]) { y = harm::Scaled(x) return y }", std::vector{kHarm});
  ASSERT_TRUE(graph) << graph.error().text();
  const auto engine =
      tenon::compile(*graph, {.plugins = {kHarm}, .isolate_plugins = true, .plugin_timeout = std::chrono::milliseconds(1500)});
  ASSERT_TRUE(engine) << engine.error().text();
  const auto run = [&](float first) { return engine->run(std::vector{tenon::Array({2}, std::vector<float>{first, 3})}); };
  for (const auto& [first, what] : {std::pair(1001.F, "crashed (signal 11"), {1003.F, "(exit code 3)"}, {1004.F, "within 1.5 s"}}) {
    const auto harmed = run(first);
    ASSERT_FALSE(harmed) << what;
    EXPECT_EQ(harmed.error().code, tenon::Code::device_failed);
    EXPECT_NE(harmed.error().what.find(what), std::string::npos) << harmed.error().text();
    const auto right = run(4);
    ASSERT_TRUE(right) << right.error().text();
    EXPECT_EQ((*right)[0].as<float>()[1], 6);
  }
}

TEST(ApiPlugins, LibrariesThatCannotBeUsedAreErrorsOfEachCall) {
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(tenon::compile(kModel, {.plugins = {"nowhere.so"}}).error().code, tenon::Code::file_missing);
    EXPECT_EQ(tenon::compile(kModel, {.plugins = {kModel}}).error().code, tenon::Code::bad_file);
    EXPECT_EQ(tenon::compile(kModel, {.plugins = {kSwish, kOtherSwish}}).error().code, tenon::Code::bad_usage);
    EXPECT_TRUE(tenon::compile(kModel, {.plugins = {kSwish, kSwish}}));
  }
}

}  // namespace
