// SPDX-License-Identifier: Apache-2.0
#include "runtime/load.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/cpu.h"
#include "engine/writer.h"
#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;
using engine::SectionType;

struct LoadTest : testing::Test {
  LoadTest() {
    std::string name = (std::filesystem::temp_directory_path() / "tenon-load-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~LoadTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path file(const std::string& bytes) const {
    std::ofstream(folder / "test.tenon", std::ios::binary) << bytes;
    return folder / "test.tenon";
  }
  Code refused(const std::string& bytes, LoadOptions options = {.verify = false, .devices = test_devices()}) const {
    auto loaded = load_engine(file(bytes), options);
    EXPECT_FALSE(loaded);
    return loaded ? Code::internal : loaded.error().code();
  }
  std::filesystem::path folder;
};

struct Parts {
  std::string program = encode(small_program());
  std::string code = "\xc3", entries = std::string(8, '\0');
  uint32_t target = 1;
  bool weights = true;
};

std::string engine_bytes(const Parts& parts) {
  engine::Writer w;
  w.add(SectionType::manifest, "{}");
  w.add(SectionType::programs, parts.program);
  if (parts.target != 0) {
    w.add(SectionType::kernels, parts.entries, {.tag = parts.target});
    w.add(SectionType::code, parts.code, {.tag = parts.target});
  }
  if (parts.weights) w.add(SectionType::weights, std::string(kSlack, '\0'));
  return *w.bytes();
}

TEST_F(LoadTest, RunsASavedEngine) {
  if (!cpu_features().has_all("avx2 fma f16c bmi2")) GTEST_SKIP() << "needs a CPU with AVX2";
  auto loaded = load_engine(file(engine_bytes({})), {.verify = true, .devices = test_devices()});
  ASSERT_TRUE(loaded) << loaded.error().text();
  auto context = *Context::create(*loaded);
  std::vector<Tensor> inputs = {Tensor::of_f32({2}, std::vector<float>{1, -4}), Tensor::of_i64({2}, std::vector<int64_t>{0, 1})};
  auto got = context->run(inputs);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(integers_of((*got)[2]), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ((*loaded)->manifest(), "{}");
}

TEST_F(LoadTest, RefusesAMissingFile) { EXPECT_EQ(load_engine(folder / "nowhere.tenon").error().code(), Code::file_missing); }

TEST_F(LoadTest, RefusesOtherFiles) {
  EXPECT_EQ(refused("This is a letter, and a long one, so that a header would fit into it more than once over and over again."),
            Code::bad_file);
  EXPECT_EQ(refused(""), Code::bad_file);
}

TEST_F(LoadTest, RefusesADamagedProgram) {
  std::string bytes = engine_bytes({});
  const size_t at = bytes.find("add one");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'o';
  EXPECT_EQ(refused(bytes), Code::bad_file) << "the section's hash";
}

TEST_F(LoadTest, RefusesAnInvalidProgram) {
  if (!cpu_features().has_all("avx2 fma f16c bmi2")) GTEST_SKIP() << "needs a CPU with AVX2";
  Parts parts;
  parts.program = parts.program.substr(0, parts.program.size() / 2 + 1);
  EXPECT_EQ(refused(engine_bytes(parts)), Code::bad_file);
  Program program = small_program();
  program.steps[0].results[0] = 77;
  parts.program = encode(program);
  EXPECT_EQ(refused(engine_bytes(parts)), Code::bad_file);
  program = small_program();
  program.steps[0].kind = KernelStep{.kernel = 1};
  parts.program = encode(program);
  EXPECT_EQ(refused(engine_bytes(parts)), Code::bad_file) << "there is one kernel";
  parts = {};
  parts.entries = "12345";
  EXPECT_EQ(refused(engine_bytes(parts)), Code::bad_file);
}

TEST_F(LoadTest, RefusesAnEngineWithoutItsSections) {
  if (!cpu_features().has_all("avx2 fma f16c bmi2")) GTEST_SKIP() << "needs a CPU with AVX2";
  Parts parts;
  parts.weights = false;
  EXPECT_EQ(refused(engine_bytes(parts)), Code::bad_file);
}

const CpuFeatures kAvx2{"avx2", "fma", "f16c", "bmi2"};

CpuFeatures without(CpuFeatures cpu, std::string_view feature) {
  cpu.set(feature, false);
  return cpu;
}

TEST_F(LoadTest, SaysWhatTheCpuLacks) {
  const auto path = file(engine_bytes({}));
  for (const CpuFeatures& cpu :
       {CpuFeatures{}, without(kAvx2, "avx2"), without(kAvx2, "fma"), without(kAvx2, "f16c"), without(kAvx2, "bmi2")}) {
    const auto loaded = load_engine(path, {.verify = false, .devices = test_devices(), .cpu = cpu});
    ASSERT_FALSE(loaded) << cpu.text();
    EXPECT_EQ(loaded.error().code(), Code::wrong_target);
    EXPECT_EQ(loaded.error()->place, path.string());
    EXPECT_EQ(loaded.error()->expected, "avx2 fma f16c bmi2");
    EXPECT_EQ(loaded.error()->found, cpu.text());
    EXPECT_NE(loaded.error()->advice.find("--portable"), std::string::npos);
  }
}

TEST_F(LoadTest, DoesNotRunAvx512CodeWithoutAllOfIt) {
  Parts parts;
  parts.target = 2;
  const auto path = file(engine_bytes(parts));
  CpuFeatures all = kAvx2;
  for (const char* name : {"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512cd"}) all.set(name);
  EXPECT_TRUE(load_engine(path, {.verify = false, .devices = test_devices(), .cpu = all}));
  for (const CpuFeatures& cpu : {kAvx2, without(all, "avx512vl"), without(all, "avx512cd")}) {
    const auto loaded = load_engine(path, {.verify = false, .devices = test_devices(), .cpu = cpu});
    ASSERT_FALSE(loaded) << cpu.text();
    EXPECT_EQ(loaded.error().code(), Code::wrong_target);
    EXPECT_NE(loaded.error()->expected.find("avx512f"), std::string::npos);
    EXPECT_EQ(loaded.error()->found, cpu.text());
  }
}

TEST_F(LoadTest, DoesNotRunCodeThatDoesNotSayWhatItNeeds) {
  for (const char* said : {"A CPU", "A CPU\n", "A CPU\na_feature_of_tomorrow", ""}) {
    engine::Writer w;
    w.add(SectionType::manifest, "{}");
    w.add(SectionType::programs, encode(small_program()));
    w.add(SectionType::target, said, {.required = false, .tag = 1});
    w.add(SectionType::kernels, std::string(8, '\0'), {.tag = 1});
    w.add(SectionType::code, "\xc3", {.tag = 1});
    w.add(SectionType::weights, std::string(kSlack, '\0'));
    EXPECT_EQ(refused(*w.bytes()), Code::wrong_target) << said;
  }
}

TEST_F(LoadTest, RefusesANewerFormat) {
  std::string bytes = engine_bytes({});
  bytes[offsetof(engine::Header, major)] = static_cast<char>(engine::kMajor + 1);
  const auto loaded = load_engine(file(bytes), {.verify = false, .devices = test_devices()});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), Code::wrong_target);
  EXPECT_EQ(loaded.error()->found, "2.0");
}

TEST_F(LoadTest, SaysThatAnEngineWithoutCodeNeedsTheFullLibrary) {
  Parts parts;
  parts.target = 0;
  EXPECT_EQ(refused(engine_bytes(parts)), Code::not_supported);
}

TEST_F(LoadTest, SaysThatOpsByReferenceNeedTheirDevice) {
  if (!cpu_features().has_all("avx2 fma f16c bmi2")) GTEST_SKIP() << "needs a CPU with AVX2";
  EXPECT_EQ(refused(engine_bytes({}), {}), Code::not_supported);
}

}  // namespace
}  // namespace tenon::tests
