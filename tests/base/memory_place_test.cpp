// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/tensor.h"

namespace tenon {
namespace {

TEST(MemoryPlace, IsTheHostUnlessAViewStatesADevice) {
  const float data[4] = {};
  EXPECT_TRUE(Tensor::of_f32({4}, data).place().is_host());
  EXPECT_TRUE(Tensor::view(DType::f32, {4}, data, nullptr).place().is_host());
  const Tensor t = Tensor::view(DType::f32, {4}, data, nullptr, {"gpu", 1});
  EXPECT_EQ(t.place(), (MemoryPlace{"gpu", 1}));
  EXPECT_EQ(text_of(t.place()), "memory of device 'gpu' 1");
  EXPECT_EQ(t.reshaped({2, 2}).place(), t.place());
  const Tensor copy = t;
  EXPECT_EQ(copy.place(), t.place());
}

TEST(MemoryPlace, CheckRefusesTensorsOutsideOfTheHostAlsoInContainers) {
  const float data[4] = {};
  const Tensor inside = Tensor::view(DType::f32, {4}, data, nullptr), outside = Tensor::view(DType::f32, {4}, data, nullptr, {"gpu", 1});
  EXPECT_TRUE(check_on_host(inside, "x"));
  EXPECT_TRUE(check_on_host(Tensor::of_elements(DType::sequence, {inside}), "x"));
  for (const Tensor& t : {outside, Tensor::of_elements(DType::sequence, {inside, outside})}) {
    const auto checked = check_on_host(t, "input 'x'");
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code(), Code::not_supported);
    EXPECT_EQ(checked.error()->place, "input 'x'");
    EXPECT_EQ(checked.error()->expected, "host memory");
    EXPECT_EQ(checked.error()->found, "memory of device 'gpu' 1");
    EXPECT_FALSE(checked.error()->advice.empty());
  }
}

TEST(MemoryPlace, CopyOfATensorOutsideOfTheHostIsRefused) {
  const float data[4] = {};
  EXPECT_TRUE(owned(Tensor::view(DType::f32, {4}, data, nullptr)));
  const auto copy = owned(Tensor::view(DType::f32, {4}, data, nullptr, {"gpu", 0}));
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code(), Code::not_supported);
}

}  // namespace
}  // namespace tenon
