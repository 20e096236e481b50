// SPDX-License-Identifier: Apache-2.0
// An engine as a file: the same bytes twice, the same results, and no damage goes unnoticed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "backends/reference/device/reference.h"
#include "compiler/save.h"
#include "helpers.h"
#include "ops/core/sample.h"
#include "runtime/load.h"

namespace tenon::compiler {
namespace {

constexpr std::string_view kText = R"(graph model(x: f32[batch,6]) {
  const w: f32[6,4] = [0.5, -1, 2, 0.25, 1, 1, -0.5, 3, 0.125, -2, 1, 0.75, -1, 0.5, 2, 1, 1.5, -0.25, 0, 1, 2, -3, 0.5, 0.1]
  const k: i64[1] = [2]
  product: f32[batch,4] = MatMul(x, w)
  y: f32[batch,4] = Softmax(product, axis=-1)
  values: f32[batch,2], places: i64[batch,2] = TopK(y, k)
  return y, values, places
})";

class EngineFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("tenon-engine-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path saved(const std::string& name, int opt, const codegen::Target* target = nullptr) {
    auto graph = ir::parse(kText, ops::table());
    EXPECT_TRUE(graph) << graph.error().text();
    CompileOptions options;
    options.opt = opt;
    options.target = target;
    auto compiled = compile(std::move(*graph), options);
    EXPECT_TRUE(compiled) << compiled.error().text();
    const auto done = save(*compiled, options, folder_ / name);
    EXPECT_TRUE(done) << done.error().text();
    return folder_ / name;
  }

  static std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path written(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  static auto load(const std::filesystem::path& path, bool verify) {
    return runtime::load_engine(path, {.verify = verify, .devices = {backends::reference::device()}});
  }

  std::filesystem::path folder_;
};

TEST_F(EngineFile, HasTheSameBytesTwice) {
  for (int opt : {0, 3}) EXPECT_EQ(bytes_of(saved("first.engine", opt)), bytes_of(saved("second.engine", opt))) << "opt " << opt;
}

/// Whatever CPU the compiler runs on.
TEST_F(EngineFile, SaysWhichCpusItWasCompiledFor) {
  CpuFeatures older = cpu_features();
  older.set("avx512f", false);
  const auto avx2 = saved("avx2.engine", 3, *codegen::target_named("x86_avx2"));
  EXPECT_TRUE(runtime::load_engine(avx2, {.devices = {backends::reference::device()}, .cpu = older}));
  const auto avx512 = saved("avx512.engine", 3, *codegen::target_named("x86_avx512"));
  const auto refused = runtime::load_engine(avx512, {.devices = {backends::reference::device()}, .cpu = older});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::wrong_target);
}

TEST_F(EngineFile, IsNotMadeOfAGraphWithTwoOutputsOfOneName) {
  auto graph = *ir::parse(kText, ops::table());
  graph->add_output(graph->find_value("product"), "y");
  const auto compiled = compile(std::move(graph), {});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), Code::bad_graph);
  EXPECT_NE(compiled.error().text().find("output 'y'"), std::string::npos) << compiled.error().text();
}

TEST_F(EngineFile, GivesTheResultsOfTheEngineInMemory) {
  const Tensor x = *ops::random_tensor(DType::f32, {3, 6}, 1);
  const auto want = testing::compiled_results(*ir::parse(kText, ops::table()), {&x, 1}, 3);
  ASSERT_TRUE(want) << want.error().text();
  auto engine = load(saved("one.engine", 3), true);
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = runtime::Context::create(*engine);
  ASSERT_TRUE(context);
  const auto got = (*context)->run({&x, 1});
  ASSERT_TRUE(got) << got.error().text();
  for (size_t k = 0; k < want->size(); ++k) {
    ASSERT_EQ((*want)[k].byte_size(), (*got)[k].byte_size());
    EXPECT_EQ(std::memcmp((*want)[k].data(), (*got)[k].data(), static_cast<size_t>((*want)[k].byte_size())), 0) << "result " << k;
  }
}

TEST_F(EngineFile, NoChangedByteGoesUnnoticed) {
  const std::string good = bytes_of(saved("good.engine", 3));
  for (size_t at = 0; at < good.size(); at += 1 + good.size() / 211) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    EXPECT_FALSE(load(written("bad.engine", bad), true)) << "byte " << at << " of " << good.size();
  }
}

TEST_F(EngineFile, IsRefusedWhenItWasCutOff) {
  const std::string good = bytes_of(saved("good.engine", 3));
  for (size_t length : {size_t{0}, size_t{7}, size_t{63}, size_t{100}, size_t{4096}, good.size() / 2, good.size() - 1}) {
    auto engine = load(written("short.engine", good.substr(0, length)), false);
    ASSERT_FALSE(engine) << length << " bytes";
    EXPECT_EQ(engine.error().code(), Code::bad_file) << engine.error().text();
  }
}

TEST_F(EngineFile, IsRefusedWithAnotherMagicOrVersion) {
  std::string other = bytes_of(saved("good.engine", 3));
  other[1] = 'X';
  auto engine = load(written("other.engine", other), false);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code(), Code::bad_file) << engine.error().text();
  engine = load(folder_ / "none.engine", false);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code(), Code::file_missing) << engine.error().text();
}

TEST_F(EngineFile, SaysThatOpaqueOpsNeedADevice) {
  auto engine = runtime::load_engine(saved("opaque.engine", 3));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code(), Code::not_supported) << engine.error().text();
}

}  // namespace
}  // namespace tenon::compiler
