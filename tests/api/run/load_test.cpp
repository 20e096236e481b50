// SPDX-License-Identifier: Apache-2.0
// The library that only runs: linked alone, on engines that the command line builds.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <cstdlib>

namespace {

const std::filesystem::path kModel = std::filesystem::path(TENON_TEST_DATA) / "../../examples/plugins/model.onnx";
const std::filesystem::path kSwish = TENON_SWISH, kOtherSwish = TENON_OTHER_SWISH;

std::filesystem::path built(const std::filesystem::path& library = kSwish, const char* more = "") {
  const auto path = std::filesystem::path(testing::TempDir()) / "run_only.tenon";
  const std::string words = std::string(TENON_PROGRAM) + " build '" + kModel.string() + "' --plugin '" + library.string() + "' -o '" +
                            path.string() + "' --quiet " + more;
  EXPECT_EQ(std::system(words.c_str()), 0) << words;
  return path;
}

/// First: a library that was opened from its file stays that.
TEST(RunPlugins, OutOfTheEngineInAProcessOfTheirOwn) {
  const auto path = built(kOtherSwish, "--embed-plugins");
  const auto engine = tenon::Engine::load(path, {.embedded_plugins = true, .isolate_plugins = true});
  ASSERT_TRUE(engine) << engine.error().text();
  const auto y = engine->run(std::vector{tenon::Array({1, 8}, std::vector<float>(8))});
  ASSERT_TRUE(y) << y.error().text();
  EXPECT_EQ((*y)[0].as<float>()[7], 0);
}

TEST(RunPlugins, AnEngineIsLoadedAndRunWithThoseThatAreNamed) {
  const auto engine = tenon::Engine::load(built(), {.plugins = {kSwish}});
  ASSERT_TRUE(engine) << engine.error().text();
  ASSERT_EQ(engine->inputs().size(), 1U);
  const std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8};
  const auto y = engine->run(std::vector{tenon::Array({1, 8}, x)});
  ASSERT_TRUE(y) << y.error().text();
  EXPECT_EQ((*y)[0].shape(), (std::vector<int64_t>{1, 8}));
}

TEST(RunPlugins, InAProcessOfTheirOwn) {
  const auto path = built();
  const auto here = tenon::Engine::load(path, {.plugins = {kSwish}}),
             there = tenon::Engine::load(path, {.plugins = {kSwish}, .isolate_plugins = true});
  ASSERT_TRUE(here && there) << there.error().text();
  const std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector inputs{tenon::Array({1, 8}, x)};
  const auto a = here->run(inputs), b = there->run(inputs);
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(std::ranges::equal((*a)[0].as<float>(), (*b)[0].as<float>()));
}

TEST(RunPlugins, WhatIsMissingOrOfAnotherBuildIsOneError) {
  const auto path = built();
  const auto without = tenon::Engine::load(path);
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().found.find("acme::Swish, version 1, of library swish: not there"), std::string::npos) << without.error().text();
  const auto other = tenon::Engine::load(path, {.plugins = {kOtherSwish}});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().found.find("another build"), std::string::npos) << other.error().text();
  EXPECT_TRUE(tenon::Engine::load(path, {.plugins = {kOtherSwish}, .plugin_any_build = true}));
  EXPECT_EQ(tenon::Engine::load(path, {.plugins = {"nowhere.so"}}).error().code, tenon::Code::file_missing);
}

}  // namespace
