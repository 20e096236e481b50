// SPDX-License-Identifier: Apache-2.0
// A model by its path and by its bytes.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <cstring>
#include <fstream>

namespace {

const std::filesystem::path kFolder = std::filesystem::path(TENON_TEST_DATA) / "../../examples";

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string saved(const tenon::Result<tenon::Engine>& engine, bool portable) {
  EXPECT_TRUE(engine) << engine.error().text();
  const auto path = std::filesystem::path(testing::TempDir()) / "compiled.tenon";
  EXPECT_TRUE(engine && engine->save(path, portable));
  return read(path);
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(ApiCompile, AFileAndItsBytesMakeOneEngine) {
  const std::string model = read(kFolder / "mlp.onnx");
  auto held = std::make_shared<std::string>(model);
  for (const int opt : {0, 3})
    for (const bool portable : {false, true}) {
      const std::string expected = saved(tenon::compile(kFolder / "mlp.onnx", {.opt = opt}), portable);
      EXPECT_GT(expected.size(), 1000U);
      EXPECT_EQ(saved(tenon::compile(bytes_of(model), {.opt = opt}), portable), expected);
      EXPECT_EQ(saved(tenon::compile(bytes_of(*held), {.opt = opt}, held), portable), expected);
    }
}

TEST(ApiCompile, TheNameOfTheFileIsNoPartOfTheEngine) {
  const auto other = std::filesystem::path(testing::TempDir()) / "another name.onnx";
  std::filesystem::copy_file(kFolder / "mlp.onnx", other, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(saved(tenon::compile(other), false), saved(tenon::compile(kFolder / "mlp.onnx"), false));
}

TEST(ApiCompile, BytesWithoutAKeeperMayGo) {
  auto model = std::make_unique<std::string>(read(kFolder / "mlp.onnx"));
  const auto engine = tenon::compile(bytes_of(*model));
  std::ranges::fill(*model, '\xff');
  model.reset();
  EXPECT_EQ(saved(engine, false), saved(tenon::compile(kFolder / "mlp.onnx"), false));
}

TEST(ApiCompile, AKeeperLivesAsLongAsTheEngine) {
  auto held = std::make_shared<std::string>(read(kFolder / "mlp.onnx"));
  const std::weak_ptr<std::string> watched = held;
  {
    const auto engine = tenon::compile(bytes_of(*held), {}, held);
    held.reset();
    EXPECT_FALSE(watched.expired());
    EXPECT_FALSE(saved(engine, true).empty());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(ApiCompile, BytesThatAreNoModelAreRefused) {
  for (const std::string& bad : {std::string(), std::string(100, '\xff'), std::string("mlp.onnx")}) {
    const auto engine = tenon::compile(bytes_of(bad));
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().place.rfind("model in memory", 0), 0U) << engine.error().text();
    EXPECT_LT(static_cast<int>(engine.error().code), 200) << engine.error().text();
  }
  EXPECT_EQ(tenon::compile(bytes_of("x"), {.opt = -1}).error().code, tenon::Code::bad_usage);
}

}  // namespace
