// SPDX-License-Identifier: Apache-2.0
#include "base/tensor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon {
namespace {

TEST(Tensor, PackedElementsStoreLowBitsFirst) {
  Tensor t = *Tensor::make(DType::u4, {3});
  t.set_integer(0, 1);
  t.set_integer(1, 2);
  t.set_integer(2, 15);
  EXPECT_EQ(std::to_integer<int>(t.data()[0]), 0x21);
  EXPECT_EQ(std::to_integer<int>(t.data()[1]), 0x0f);
  Tensor two = *Tensor::make(DType::i2, {4});
  for (int i = 0; i < 4; ++i) two.set_integer(i, i - 2);
  EXPECT_EQ(integers_of(two), (std::vector<int64_t>{-2, -1, 0, 1}));
}

TEST(Tensor, IsAlignedAndZeroed) {
  Tensor t = *Tensor::make(DType::f32, {5, 7});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
  for (double v : numbers_of(t)) EXPECT_EQ(v, 0);
}

TEST(Tensor, RefusesSizesThatOverflowOrPassTheLimit) {
  EXPECT_EQ(Tensor::make(DType::f32, {int64_t{1} << 40, int64_t{1} << 40}).error().code(), Code::size_overflow);
  EXPECT_EQ(Tensor::make(DType::f32, {-1}).error().code(), Code::size_overflow);
  EXPECT_EQ(Tensor::make(DType::f32, {1000}, 3999).error().code(), Code::limit_exceeded);
  EXPECT_TRUE(Tensor::make(DType::f32, {int64_t{1} << 40, 0}).has_value());
}

TEST(Tensor, StoresNumbersWithTheDTypesRounding) {
  Tensor i8 = *Tensor::make(DType::i8, {2});
  i8.set_number(0, -1.9);
  i8.set_number(1, 300);
  EXPECT_EQ(integers_of(i8), (std::vector<int64_t>{-1, 44}));
  Tensor u64 = *Tensor::make(DType::u64, {1});
  u64.set_number(0, 0x1p63);
  EXPECT_EQ(u64.number(0), 0x1p63);
  Tensor b = Tensor::scalar(DType::boolean, 0.5);
  EXPECT_EQ(b.integer(0), 1);
  Tensor h = Tensor::scalar(DType::f16, 1.0 / 3);
  EXPECT_EQ(h.number(0), static_cast<double>(static_cast<_Float16>(1.0 / 3)));
  Tensor c = Tensor::scalar(DType::c64, 2.5);
  EXPECT_EQ(c.number(0), 2.5);
}

TEST(Tensor, AViewKeepsItsBytesAlive) {
  auto bytes = std::make_shared<std::vector<int64_t>>(std::vector<int64_t>{3, 4});
  std::weak_ptr<std::vector<int64_t>> watch = bytes;
  {
    Tensor t = Tensor::view(DType::i64, {2}, bytes->data(), bytes);
    bytes.reset();
    EXPECT_EQ(t.reshaped({2, 1}).integer(1), 4);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, HoldsStrings) {
  Tensor t = Tensor::of_strings({2}, {"a", "b"});
  EXPECT_EQ(t.strings()[1], "b");
  EXPECT_EQ(type_text(t.dtype(), {2, 3}), "string[2,3]");
}

}  // namespace
}  // namespace tenon
