// SPDX-License-Identifier: Apache-2.0
// Weights in files beside the model: where they may lie, and what is checked of them.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model_bytes.h"

namespace tenon::import::testing {
namespace {

std::string external(const Sizes& shape, const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = tensor_head("w", DType::f32, shape);
  for (const auto& [key, value] : entries) {
    std::string pair;
    Writer p(pair);
    p.add_string(schema::entry::kKey, key);
    p.add_string(schema::entry::kValue, value);
    Writer(out).add_message(schema::tensor::kExternalData, pair);
  }
  Writer(out).add_int32(schema::tensor::kDataLocation, 1);
  return out;
}

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("tenon_external_" + std::to_string(::getpid()));
    std::filesystem::create_directories(root_ / "model" / "sub");
    const float w[] = {3, 4, 5, 6};
    for (const char* file : {"secret.bin", "model/w.bin", "model/sub/w.bin"})
      std::ofstream(root_ / file, std::ios::binary).write(reinterpret_cast<const char*>(w), sizeof w);
    std::filesystem::create_symlink(root_ / "secret.bin", root_ / "model" / "link.bin");
    std::filesystem::create_directory_symlink(root_, root_ / "model" / "up");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  Result<Imported> load(const std::vector<std::pair<std::string, std::string>>& entries) {
    GraphBytes relu;
    relu.initializer(external({2}, entries)).node(node("Relu", {"w"}, {"y"})).output("y", DType::f32, {"2"});
    return import_bytes(model(relu), {.external_data_dir = root_ / "model", .limits = {}, .shapes = {}});
  }
  Code refused(const std::vector<std::pair<std::string, std::string>>& entries) {
    auto m = load(entries);
    return m ? Code::internal : m.error().code();
  }
  std::filesystem::path root_;
};

TEST_F(ExternalData, IsMappedFromTheModelsFolder) {
  for (const char* location : {"w.bin", "sub/w.bin"}) {
    auto m = load({{"location", location}, {"offset", "4"}, {"length", "8"}});
    ASSERT_TRUE(m) << m.error().text();
    EXPECT_EQ(m->graph->tensor_of(m->graph->find_value("w"))->number(0), 4);
  }
}

TEST_F(ExternalData, LengthZeroReadsWhatTheShapeNeeds) {
  for (const auto& entries : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {{"location", "w.bin"}, {"offset", "8"}, {"length", "0"}}, {{"location", "w.bin"}, {"offset", "8"}}}) {
    auto m = load(entries);
    ASSERT_TRUE(m) << m.error().text();
    EXPECT_EQ(m->graph->tensor_of(m->graph->find_value("w"))->number(0), 5);
  }
  EXPECT_EQ(refused({{"location", "w.bin"}, {"offset", "12"}, {"length", "0"}}), Code::bad_file) << "the file ends before";
}

TEST_F(ExternalData, OutsideTheFolderIsUnsafe) {
  for (const char* location : {"../secret.bin", "link.bin", "up/secret.bin", "sub/../../secret.bin"})
    EXPECT_EQ(refused({{"location", location}, {"length", "8"}}), Code::file_unsafe) << location;
  EXPECT_EQ(refused({{"location", (root_ / "secret.bin").string()}, {"length", "8"}}), Code::file_unsafe);
  EXPECT_EQ(refused({{"location", "missing.bin"}}), Code::file_missing);
  EXPECT_EQ(refused({{"location", "sub"}, {"length", "8"}}), Code::file_unsafe);
}

TEST_F(ExternalData, NumbersAreChecked) {
  EXPECT_EQ(refused({{"location", "w.bin"}, {"offset", "-4"}}), Code::bad_file);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"length", "-8"}}), Code::bad_file);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"offset", "9223372036854775807"}, {"length", "8"}}), Code::bad_file);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"offset", "99999999999999999999"}}), Code::bad_file);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"offset", "12"}}), Code::bad_file);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"length", "4"}}), Code::bad_file);
  EXPECT_EQ(refused({{"location", "w.bin"}, {"__class__", "8"}}), Code::bad_file);
  EXPECT_EQ(refused({{"offset", "0"}}), Code::bad_file);
}

}  // namespace
}  // namespace tenon::import::testing
