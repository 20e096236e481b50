// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>

#include "files/gguf.h"
#include "gguf_writer.h"
#include "temporary_folder.h"

namespace tenon::files {
namespace {

class GgufSplit : public testing::Test {
 protected:
  /// Part `number` of 3 with one tensor; of the first part also the number of all tensors.
  void write(int number, const std::string& tensor, int number_inside = -1, int tensors = 3) {
    GgufWriter w;
    w.add_number<uint16_t>("split.no", 2, static_cast<uint16_t>(number_inside < 0 ? number : number_inside));
    w.add_number<uint16_t>("split.count", 2, 3).add_number<int32_t>("split.tensors.count", 5, tensors);
    w.add_tensor(tensor, {1}, 0, "abc" + std::to_string(number));
    std::ofstream(name(number), std::ios::binary) << w.file();
  }
  std::filesystem::path name(int number) { return folder / ("m-0000" + std::to_string(number + 1) + "-of-00003.gguf"); }

  /// The error of reading the checkpoint from the part `number`; empty where that succeeds.
  Diagnostic refused(int number = 0) {
    const auto file = read_gguf(name(number));
    EXPECT_FALSE(file.has_value());
    return file ? Diagnostic{} : *file.error();
  }

  TemporaryFolder folder;
};

TEST_F(GgufSplit, ReadsAllPartsFromTheFirst) {
  for (int k = 0; k < 3; ++k) write(k, "t" + std::to_string(k));
  const auto file = read_gguf(name(0));
  ASSERT_TRUE(file.has_value()) << file.error().text();
  ASSERT_EQ(file->tensors.size(), 3u);
  EXPECT_EQ(file->files.size(), 3u);
  for (uint32_t k = 0; k < 3; ++k) {
    const Gguf::Tensor& t = *file->find_tensor("t" + std::to_string(k));
    EXPECT_EQ(t.part, k);
    EXPECT_EQ(static_cast<char>(t.bytes[3]), static_cast<char>('0' + k));
  }
}

TEST_F(GgufSplit, NamesEveryMissingPart) {
  write(0, "a");
  const auto file = read_gguf(name(0));
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code(), Code::file_missing);
  EXPECT_NE(file.error()->expected.find("m-00002-of-00003.gguf, m-00003-of-00003.gguf"), std::string::npos) << file.error().text();
}

TEST_F(GgufSplit, RefusesALaterPartWithTheFirstOnesName) {
  for (int k = 0; k < 3; ++k) write(k, "t" + std::to_string(k));
  const auto file = read_gguf(name(1));
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error()->advice.find("m-00001-of-00003.gguf"), std::string::npos) << file.error().text();
}

TEST_F(GgufSplit, RefusesPartsThatDoNotBelongTogether) {
  for (int k = 0; k < 3; ++k) write(k, "t");
  EXPECT_NE(refused().what.find("same name"), std::string::npos);
  write(1, "u");
  write(2, "v", 1);
  EXPECT_NE(refused().what.find("another checkpoint"), std::string::npos);
  write(2, "v");
  write(0, "t", -1, 4);
  EXPECT_EQ(refused().expected, "4 tensors");
  write(0, "t", 2);
  EXPECT_NE(refused().what.find("its name"), std::string::npos);
}

TEST_F(GgufSplit, AFileWithoutPartsIsWhole) {
  std::ofstream(folder / "whole.gguf", std::ios::binary) << GgufWriter().add_tensor("a", {1}, 0, "abcd").file();
  EXPECT_TRUE(is_gguf(folder / "whole.gguf"));
  EXPECT_TRUE(read_gguf(folder / "whole.gguf").has_value());
  EXPECT_FALSE(is_gguf(folder / "none.gguf"));
  EXPECT_EQ(read_gguf(folder / "none.gguf").error().code(), Code::file_missing);
}

}  // namespace
}  // namespace tenon::files
