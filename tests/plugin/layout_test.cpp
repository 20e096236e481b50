// SPDX-License-Identifier: Apache-2.0
// Memory in other layouts, and which of them a plugin takes.
#include "plugin/layout/layout_conversion.h"

#include <gtest/gtest.h>

#include <numeric>

#include "plugin/layout/formats.h"
#include "plugin/layout/transpose.h"

namespace tenon::plugin {
namespace {

TEST(PluginLayout, StridesAreThoseOfTheLayout) {
  const Sizes image = {2, 3, 4, 5}, matrix = {4, 7};
  EXPECT_EQ(strides_of(TENON_ROW_MAJOR, image), (Sizes{60, 20, 5, 1}));
  EXPECT_EQ(strides_of(TENON_STRIDED, image), (Sizes{60, 20, 5, 1}));
  EXPECT_EQ(strides_of(TENON_CHANNELS_LAST, image), (Sizes{60, 1, 15, 3}));
  EXPECT_EQ(strides_of(TENON_CHANNELS_LAST, Sizes{2, 3, 4}), (Sizes{12, 1, 3}));
  EXPECT_EQ(strides_of(TENON_CHANNELS_LAST, matrix), (Sizes{7, 1}));
  EXPECT_EQ(strides_of(TENON_CHANNELS_LAST, Sizes{}), Sizes{});
}

TEST(PluginLayout, OverflowingSizesHaveNoElements) {
  const Tensor x = *Tensor::make(DType::f32, {0, int64_t{1} << 40, int64_t{1} << 40});
  for (int32_t layout : {TENON_STRIDED, TENON_CHANNELS_LAST}) {
    TensorViews views(1);
    views.set(0, x);
    LayoutConversion laid_out(views, {layout});
    ASSERT_TRUE(laid_out.lay_out(0));
    EXPECT_EQ(views[0].strides[layout == TENON_STRIDED ? 2 : 1], 1);
    laid_out.convert_operands(nullptr, 1);
  }
}

TEST(PluginLayout, TransposesElementsOfEverySize) {
  ThreadPool thread_pool(3);
  for (const Sizes& shape : {Sizes{2, 3, 5}, Sizes{1, 33, 97}, Sizes{3, 64, 1}, Sizes{0, 4, 4}, Sizes{2, 40, 65}})
    for (size_t bytes : {1u, 2u, 4u, 8u, 16u})
      for (ThreadPool* of : {static_cast<ThreadPool*>(nullptr), &thread_pool}) {
        const auto count = static_cast<size_t>(shape[0] * shape[1] * shape[2]);
        std::vector<uint8_t> from(count * bytes), to(count * bytes), back(count * bytes);
        std::iota(from.begin(), from.end(), uint8_t{1});
        transpose(from.data(), to.data(), shape[0], shape[1], shape[2], static_cast<int>(bytes), of, 3);
        for (size_t k = 0; k < count; ++k) {
          const auto rows = static_cast<size_t>(shape[1]), columns = static_cast<size_t>(shape[2]);
          const size_t row = k / columns % rows, column = k % columns, at = (k / columns / rows * columns + column) * rows + row;
          for (size_t b = 0; b < bytes; ++b) ASSERT_EQ(to[at * bytes + b], from[k * bytes + b]);
        }
        transpose(to.data(), back.data(), shape[0], shape[2], shape[1], static_cast<int>(bytes), of, 3);
        EXPECT_EQ(back, from);
      }
}

TEST(PluginLayout, BringsOperandsOnceAndTakesResults) {
  const Tensor x = Tensor::of_f32({1, 2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  TensorViews views(1);
  views.set(0, x);
  LayoutConversion laid_out(views, {TENON_CHANNELS_LAST});
  ASSERT_TRUE(laid_out.lay_out(0));
  EXPECT_EQ(views[0].layout, TENON_CHANNELS_LAST);
  EXPECT_NE(views[0].data, x.data());
  laid_out.convert_operands(nullptr, 1);
  auto* const theirs = static_cast<float*>(views[0].data);
  EXPECT_EQ(std::vector(theirs, theirs + 6), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  theirs[0] = 9;
  laid_out.convert_operands(nullptr, 1);
  EXPECT_EQ(theirs[0], 9) << "nobody set it since";
  Tensor y = *Tensor::make(DType::f32, {1, 2, 3});
  laid_out.set_data(0, y.mutable_data());
  laid_out.convert_results(nullptr, 1);
  EXPECT_EQ(y.as<float>()[0], 9);
  EXPECT_EQ(y.as<float>()[3], 4);
}

TEST(PluginLayout, TextListsMixedLayouts) {
  EXPECT_EQ(text_of_layouts({}, 1), "row-major");
  EXPECT_EQ(text_of_layouts({1, 1}, 1), "channels-last");
  EXPECT_EQ(text_of_layouts({0, 1, 2}, 2), "row-major, channels-last -> strided");
}

}  // namespace
}  // namespace tenon::plugin
