// SPDX-License-Identifier: Apache-2.0
// The C interface: tests in C (tests/api/c), given engines that are built here; and its results compared with those of C++.
#include <gtest/gtest.h>
#include <tenon/graph.h>

#include <algorithm>
#include <cstdlib>

#include "c/checks.h"

namespace {

std::string in_folder(const char* name) { return (std::filesystem::path(testing::TempDir()) / name).string(); }

std::string saved(const tenon::Engine& engine, const char* name) {
  const std::string path = in_folder(name);
  const auto done = engine.save(path);
  EXPECT_TRUE(done) << done.error().text();
  return path;
}

std::string saved(const char* text, const char* name) {
  const auto graph = tenon::Graph::parse(text);
  EXPECT_TRUE(graph) << graph.error().text();
  return saved(*tenon::compile(*graph), name);
}

/// Results of a shape that follows from the inputs, and of one that depends on data.
std::string two_results() {
  static const std::string path =
      saved("graph(x: f32[n,4], k: f32[4]) { product = Mul(x, k) places = NonZero(product) return product, places }", "two_results.tenon");
  return path;
}

std::string state_engine() {
  static const std::string path = in_folder("c_states.tenon");
  const std::string words = std::string(TENON_STATE_ENGINE) + " '" + path + "'";
  EXPECT_EQ(std::system(words.c_str()), 0) << words;
  return path;
}

tenon::Engine decoder() {
  auto engine =
      tenon::compile(std::filesystem::path(TENON_TEST_DATA) / "../../examples/attention.onnx", {.states = {"past_*=present_*:4096"}});
  EXPECT_TRUE(engine) << engine.error().text();
  return *engine;
}

TEST(CApi, DescriptionsMatchTheModel) { EXPECT_EQ(test_descriptions(two_results().c_str()), 0); }

TEST(CApi, RunsGiveResultsByPositionNameAndBuffer) { EXPECT_EQ(test_runs(two_results().c_str()), 0); }

TEST(CApi, BadArraysAreRefused) { EXPECT_EQ(test_refused_runs(two_results().c_str()), 0); }

TEST(CApi, BadLoadsAreRefused) { EXPECT_EQ(test_refused_loads(two_results().c_str(), in_folder("no_such.tenon").c_str()), 0); }

TEST(CApi, OptionsLimitRuns) { EXPECT_EQ(test_options(two_results().c_str()), 0); }

TEST(CApi, InputsWithDefaultsMayBeLeftOut) {
  const char* const text = "graph(x: f32[2], w: f32[2] = [1, 2]) { y = Mul(x, w) return y, x }";
  EXPECT_EQ(test_defaults(saved(text, "c_defaults.tenon").c_str()), 0);
}

TEST(CApi, ContainersAreDescribedAndRefused) {
  const std::string gives = saved("graph(x: f32[2]) { list = SequenceConstruct(x) y = Mul(x, x) return list, y }", "c_sequence.tenon");
  const std::string takes = saved("graph(s: seq(f32[*])) { n = SequenceLength(s) return n }", "c_takes_sequence.tenon");
  EXPECT_EQ(test_containers(gives.c_str(), takes.c_str()), 0);
}

TEST(CApi, StringsAreCopiedInAndViewedOut) {
  EXPECT_EQ(test_strings(saved("graph(text: string[n]) { same = Identity(text) return same }", "strings.tenon").c_str()), 0);
}

TEST(CApi, StatesContinueForkAndRestore) { EXPECT_EQ(test_states(state_engine().c_str(), in_folder("c_states.saved").c_str()), 0); }

TEST(CApi, BadCallsOfStatesAreRefused) {
  const std::string other = saved(decoder(), "c_other.tenon");
  EXPECT_EQ(test_refused_states(state_engine().c_str(), other.c_str(), in_folder("c_refused.saved").c_str()), 0);
}

/// 200 steps over the caller's memory in C, with a fork and saved states halfway, give the bits of a C++ context.
TEST(CApi, DecoderGivesTheBitsOfCpp) {
  constexpr int kSteps = 200;
  const auto engine = decoder();
  std::vector<float> in_c(size_t{kSteps} * TENON_TEST_WIDTH), in_cpp;
  EXPECT_EQ(test_decoder(saved(engine, "c_decoder.tenon").c_str(), kSteps, in_c.data(), in_folder("c_decoder.saved").c_str()), 0);
  auto context = *tenon::Context::create(engine);
  for (int step = 0; step < kSteps; ++step) {
    float row[TENON_TEST_WIDTH];
    decoder_row(step, row);
    const tenon::Array x(tenon::DType::f32, {1, 1, TENON_TEST_WIDTH}, row, sizeof row);
    const auto y = context.run(std::span(&x, 1));
    ASSERT_TRUE(y) << y.error().text();
    in_cpp.insert(in_cpp.end(), (*y)[0].as<float>().begin(), (*y)[0].as<float>().end());
  }
  EXPECT_EQ(in_c, in_cpp);
  EXPECT_NE(in_c[0], in_c[TENON_TEST_WIDTH]);
}

/// The library is opened while the program runs, and called through the names that it exports.
TEST(CApi, LibrariesAreOpenedAtRunTime) {
  const std::string engine = saved("graph(x: f32[n,4], k: f32[4]) { product = Mul(x, k) return product }", "c_product.tenon");
  for (const char* const library : {TENON_RUN_LIBRARY, TENON_LIBRARY}) {
    const std::string words = std::string(TENON_OPENED_LIBRARY) + " '" + library + "' '" + engine + "'";
    EXPECT_EQ(std::system(words.c_str()), 0) << words;
  }
}

}  // namespace
