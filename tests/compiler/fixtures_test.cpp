// SPDX-License-Identifier: Apache-2.0
// Engine files that earlier versions wrote (tools/models/make_engine_fixtures.py): they load, and give what they gave.
#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/load.h"
#include "files/npz.h"
#include "helpers.h"

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> engines() {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TENON_TEST_DATA) / "fixtures"))
    if (entry.path().extension() == ".tenon") out.push_back(entry.path().string());
  std::ranges::sort(out);
  return out;
}

/// results.npz fixture_of DIR/NAME.KIND.tenon.
fs::path fixture_of(const fs::path& engine, const std::string& what) {
  return engine.parent_path() / (engine.stem().stem().string() + "." + what + ".npz");
}

class EngineFixtures : public ::testing::TestWithParam<std::string> {};

TEST_P(EngineFixtures, StillRun) {
  for (const bool verify : {false, true}) {
    const auto engine = load(GetParam(), {.verify = verify});
    if (!engine && engine.error().code() == Code::wrong_target) GTEST_SKIP() << "needs a CPU that runs " << GetParam();
    ASSERT_TRUE(engine) << engine.error().text();
    const auto inputs = files::read_npz(fixture_of(GetParam(), "inputs")), want = files::read_npz(fixture_of(GetParam(), "results"));
    ASSERT_TRUE(inputs && want);
    std::vector<Tensor> in;
    for (const auto& port : (*engine)->inputs())
      for (const auto& [name, tensor] : *inputs)
        if (name == port.name) in.push_back(tensor);
    const auto context = *runtime::Context::create(*engine);
    const auto got = context->run(in);
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_EQ(got->size(), want->size());
    for (size_t k = 0; k < got->size(); ++k) {
      const auto found = std::ranges::find(*want, (*engine)->outputs()[k].name, [](const auto& named) { return named.first; });
      ASSERT_NE(found, want->end());
      EXPECT_EQ(testing::difference(found->second, (*got)[k]), "") << found->first;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryVersion, EngineFixtures, ::testing::ValuesIn(engines()),
                         [](const ::testing::TestParamInfo<std::string>& info) {
                           std::string name =
                               fs::path(info.param).parent_path().filename().string() + "_" + fs::path(info.param).stem().string();
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

TEST(EngineFixtureFiles, AreThere) { EXPECT_GE(engines().size(), 8u); }

}  // namespace
}  // namespace tenon::compiler
