// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tenon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(DType, NamesRoundTrip) {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype) << i;
    EXPECT_EQ(dtype_from_onnx(i), dtype);
  }
  EXPECT_EQ(dtype_named("float"), std::nullopt);
  EXPECT_EQ(dtype_from_onnx(0), std::nullopt);
  EXPECT_EQ(dtype_from_onnx(kDTypeCount), std::nullopt);
  EXPECT_EQ(name_of(DType::boolean), "bool");
}

TEST(DType, PackedBytesRoundUp) {
  EXPECT_EQ(bytes_of(DType::u4, 3), 2);
  EXPECT_EQ(bytes_of(DType::i2, 5), 2);
  EXPECT_EQ(bytes_of(DType::c128, 2), 32);
  EXPECT_EQ(bytes_of(DType::f4e2m1, 0), 0);
}

/// Tries all codes of the types that have few.
TEST(DType, KeepsAllIsTrueOfEveryCode) {
  const std::vector<DType> floats = {DType::f16, DType::bf16, DType::f32, DType::f64};
  for (DType from : {DType::f16, DType::bf16})
    for (DType to : floats) {
      bool kept = true;
      for (uint64_t code = 0; code < 65536; ++code) {
        const double value = decode_float(from, code);
        kept &= std::isnan(value) || decode_float(to, encode_float(to, value, false)) == value;
      }
      EXPECT_EQ(is_lossless_cast(from, to), kept) << name_of(from) << " " << name_of(to);
    }
  for (int bits = 8; bits <= 32; bits *= 2)
    for (bool with_sign : {false, true}) {
      const DType from = bits == 8    ? (with_sign ? DType::i8 : DType::u8)
                         : bits == 16 ? (with_sign ? DType::i16 : DType::u16)
                                      : (with_sign ? DType::i32 : DType::u32);
      const auto largest = static_cast<double>((int64_t{1} << (bits - with_sign)) - 1);
      for (DType to : floats) {
        const bool kept = decode_float(to, encode_float(to, largest, false)) == largest;
        EXPECT_EQ(is_lossless_cast(from, to), kept) << name_of(from) << " " << name_of(to);
      }
    }
  EXPECT_TRUE(is_lossless_cast(DType::u8, DType::i16));
  EXPECT_FALSE(is_lossless_cast(DType::u8, DType::i8));
  EXPECT_FALSE(is_lossless_cast(DType::i8, DType::u64));
  EXPECT_FALSE(is_lossless_cast(DType::i64, DType::i32));
  EXPECT_TRUE(is_lossless_cast(DType::boolean, DType::bf16));
  EXPECT_FALSE(is_lossless_cast(DType::f32, DType::boolean));
}

TEST(DType, EveryCodeOfSmallFloatsRoundTrips) {
  for (DType dtype :
       {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::f4e2m1, DType::f8e8m0}) {
    for (uint64_t code = 0; code < (uint64_t{1} << bits_of(dtype)); ++code) {
      const double value = decode_float(dtype, code);
      const uint64_t back = encode_float(dtype, value, false);
      if (std::isnan(value)) EXPECT_TRUE(std::isnan(decode_float(dtype, back))) << name_of(dtype) << " " << code;
      else EXPECT_EQ(back, code) << name_of(dtype);
    }
  }
}

TEST(DType, HalvesAgreeWithTheCompilersConversion) {
  for (uint32_t i = 0; i < 200000; ++i) {
    const float value = std::ldexp(static_cast<float>(i * 2654435761u), static_cast<int>(i % 60) - 60);
    const auto half = static_cast<_Float16>(value);
    EXPECT_EQ(encode_float(DType::f16, value), std::bit_cast<uint16_t>(half)) << value;
  }
}

TEST(DType, RoundsHalfToEven) {
  EXPECT_EQ(encode_float(DType::f16, 2049.0), encode_float(DType::f16, 2048.0));
  EXPECT_EQ(encode_float(DType::f16, 2051.0), encode_float(DType::f16, 2052.0));
  EXPECT_EQ(encode_float(DType::f16, 65519.0), 0x7bffu);
  EXPECT_EQ(encode_float(DType::f16, 65520.0), 0x7c00u);
  EXPECT_EQ(encode_float(DType::f16, 0x1p-25), 0u);
  EXPECT_EQ(encode_float(DType::f16, 0x1.8p-24), 2u);
}

// The codes that the reference implementation of ONNX 1.23 gives for these values.
TEST(DType, SmallFloatsSaturateAsOnnxCast) {
  const double values[] = {kInfinity, -kInfinity, 500, 470, 1e6, -0.0, -1e-9, kNan};
  const auto expect = [&](DType dtype, bool saturate, std::initializer_list<uint64_t> codes) {
    size_t i = 0;
    for (uint64_t code : codes) {
      EXPECT_EQ(encode_float(dtype, values[i], saturate), code) << name_of(dtype) << " of " << values[i] << " saturate " << saturate;
      ++i;
    }
  };
  expect(DType::f8e4m3fn, true, {0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x80, 0x80, 0x7f});
  expect(DType::f8e4m3fn, false, {0x7f, 0xff, 0x7f, 0x7f, 0x7f, 0x80, 0x80, 0x7f});
  expect(DType::f8e4m3fnuz, true, {0x7f, 0xff, 0x7f, 0x7f, 0x7f, 0x00, 0x00, 0x80});
  expect(DType::f8e4m3fnuz, false, {0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x00, 0x80});
  expect(DType::f8e5m2, true, {0x7b, 0xfb, 0x60, 0x5f, 0x7b, 0x80, 0x80, 0x7e});
  expect(DType::f8e5m2, false, {0x7c, 0xfc, 0x60, 0x5f, 0x7c, 0x80, 0x80, 0x7e});
  expect(DType::f8e5m2fnuz, true, {0x7f, 0xff, 0x64, 0x63, 0x7f, 0x00, 0x00, 0x80});
  expect(DType::f8e5m2fnuz, false, {0x80, 0x80, 0x64, 0x63, 0x80, 0x00, 0x00, 0x80});
  expect(DType::f4e2m1, true, {0x7, 0xf, 0x7, 0x7, 0x7, 0x8, 0x8, 0x8});
  expect(DType::f8e8m0, true, {0xff, 0xff, 0x88, 0x88, 0x93, 0x00, 0x61, 0xff});
}

}  // namespace
}  // namespace tenon
