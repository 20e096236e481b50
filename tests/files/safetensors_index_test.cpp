// SPDX-License-Identifier: Apache-2.0
#include "files/safetensors_index.h"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_folder.h"

namespace tenon::files {
namespace {

constexpr const char* kIndex = "model.safetensors.index.json";

class SafeTensorsIndex : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& bytes) { std::ofstream(folder / name, std::ios::binary) << bytes; }
  /// A shard of u8[1] tensors, whose values are their positions.
  void write_shard(const std::string& name, const std::vector<std::string>& tensors) {
    std::string header = "{", data;
    for (const std::string& tensor : tensors) {
      const size_t at = data.size();
      header += (at == 0 ? "" : ",") + ("\"" + tensor + "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[") + std::to_string(at) +
                "," + std::to_string(at + 1) + "]}";
      data += static_cast<char>(at);
    }
    header += "}";
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size() & 0xff);
    length[1] = static_cast<char>(header.size() >> 8);
    write(name, length + header + data);
  }
  Diagnostic refused() {
    const auto read = read_safetensors_index(folder / kIndex);
    EXPECT_FALSE(read.has_value());
    return read ? Diagnostic{} : *read.error();
  }

  TemporaryFolder folder;
};

TEST_F(SafeTensorsIndex, ReadsTensorsOfAllShards) {
  write_shard("model-00001-of-00002.safetensors", {"a", "b"});
  write_shard("model-00002-of-00002.safetensors", {"c"});
  write(kIndex, R"({"metadata":{"total_size":3},"weight_map":{"a":"model-00001-of-00002.safetensors",
      "b":"model-00001-of-00002.safetensors","c":"model-00002-of-00002.safetensors"}})");
  const auto read = read_safetensors_folder(folder.path());
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->files.size(), 2u);
  EXPECT_EQ(read->entries().size(), 3u);
  EXPECT_EQ(read->find("b")->integer(0), 1);
  EXPECT_EQ(read->find("c")->integer(0), 0);
  EXPECT_EQ(read->find("d"), nullptr);
}

TEST_F(SafeTensorsIndex, NamesAllDifferencesInOneError) {
  write_shard("model-00001-of-00003.safetensors", {"a", "extra"});
  write_shard("model-00009-of-00009.safetensors", {"old"});
  write(kIndex, R"({"weight_map":{"a":"model-00001-of-00003.safetensors","b":"model-00001-of-00003.safetensors",
      "c":"model-00002-of-00003.safetensors","d":"model-00003-of-00003.safetensors"}})");
  const Diagnostic d = refused();
  EXPECT_EQ(d.code, Code::bad_file);
  EXPECT_EQ(d.found,
            "1 left-over shards: model-00009-of-00009.safetensors; "
            "1 left-over tensors: extra in model-00001-of-00003.safetensors; "
            "2 missing shards: model-00002-of-00003.safetensors, model-00003-of-00003.safetensors; "
            "1 missing tensors: b in model-00001-of-00003.safetensors");
}

TEST_F(SafeTensorsIndex, NamesTheFirstOfManyMissingTensors) {
  write_shard("model-1-of-1.safetensors", {});
  std::string map;
  for (int k = 0; k < 1000; ++k) map += (k == 0 ? "\"t" : ",\"t") + std::to_string(k) + "\":\"model-1-of-1.safetensors\"";
  write(kIndex, "{\"weight_map\":{" + map + "}}");
  const Diagnostic d = refused();
  EXPECT_TRUE(d.found.starts_with("1000 missing tensors: t0 in")) << d.found;
  EXPECT_LT(d.found.size(), 1000u);
}

TEST_F(SafeTensorsIndex, ShardsLieInItsFolder) {
  for (const char* name : {"../model.safetensors", "/etc/model", "sub/model.safetensors", "..", ""}) {
    write(kIndex, std::string("{\"weight_map\":{\"a\":\"") + name + "\"}}");
    EXPECT_EQ(refused().code, Code::file_unsafe) << name;
  }
}

TEST_F(SafeTensorsIndex, RefusesUnsoundIndices) {
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("{}"), std::string(R"({"weight_map":[]})"),
        std::string(R"({"weight_map":{"a":1}})"), std::string(R"({"weight_map":{"a":"x","a":"y"}})"), std::string(100'000, '[')}) {
    write(kIndex, text);
    EXPECT_EQ(refused().code, Code::bad_file) << text.substr(0, 40);
  }
}

TEST_F(SafeTensorsIndex, FoldersHoldOneCheckpoint) {
  EXPECT_EQ(read_safetensors_folder(folder.path()).error().code(), Code::file_missing);
  write_shard("model.safetensors", {"a"});
  EXPECT_NE(read_safetensors_folder(folder.path())->find("a"), nullptr);
  write(kIndex, "{}");
  EXPECT_EQ(read_safetensors_folder(folder.path()).error()->found, "both");
}

}  // namespace
}  // namespace tenon::files
