// SPDX-License-Identifier: Apache-2.0
// Decoders of image files; those of the system's libraries are tested by ONNX's own tests of ImageDecoder (tests/compiler/node_tests).
#include <gtest/gtest.h>

#include <string_view>

#include "ops/image/pixels.h"
#include "ops/image/system_library.h"

namespace tenon::ops {
namespace {

using namespace std::string_view_literals;

Encoded bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

constexpr int64_t kLimit = 1 << 20;

TEST(SystemLibrary, ErrorNamesMissingLibraryAndPackage) {
  void* function = nullptr;
  const auto bound = bind_functions({"libnothing.so.9", "libnothing9", "pictures of nothing"}, {{"nothing", &function}});
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code(), Code::not_supported);
  EXPECT_NE(bound.error().text().find("libnothing.so.9"), std::string::npos);
  EXPECT_NE(bound.error().text().find("libnothing9"), std::string::npos);
}

TEST(Images, PnmOfAnyKindIsRead) {
  for (const std::string_view file : {"P1 2 1 1 0"sv, "P4 2 1 \x80"sv, "P2 # grey\n2 1 100 0 100"sv, "P5 2 1 255 \0\xff"sv,
                                      "P3 2 1 255 0 0 0 255 255 255"sv, "P6 2 1 255 \0\0\0\xff\xff\xff"sv}) {
    const auto pixels = decode_pnm(bytes_of(file), kLimit);
    ASSERT_TRUE(pixels) << file << pixels.error().text();
    EXPECT_EQ(pixels->rgb, (std::vector<uint8_t>{0, 0, 0, 255, 255, 255})) << file;
  }
}

TEST(Images, CutOffFilesAreErrors) {
  for (const std::string_view file : {"P6 2 1 255 \0\0"sv, "P1 2 1 1"sv, "P5 2"sv, "P5 2 1 0 \0\0"sv})
    EXPECT_FALSE(decode_pnm(bytes_of(file), kLimit)) << file;
  EXPECT_FALSE(decode_bmp(bytes_of("BM"sv), kLimit));
}

TEST(Images, LargeImagesAreRefusedBeforeTheyTakeMemory) {
  const auto pixels = decode_pnm(bytes_of("P6 1000000 1000000 255 "sv), kLimit);
  ASSERT_FALSE(pixels);
  EXPECT_EQ(pixels.error().code(), Code::limit_exceeded);
}

}  // namespace
}  // namespace tenon::ops
