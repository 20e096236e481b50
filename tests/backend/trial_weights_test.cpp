// SPDX-License-Identifier: Apache-2.0
#include "backend/trial_weights.h"

#include <gtest/gtest.h>

namespace tenon::tests {
namespace {

ir::ConstantRef numbers(int64_t count, float value) {
  return ir::constant_of(Tensor::of_f32({count}, std::vector<float>(static_cast<size_t>(count), value)));
}

TEST(TrialWeights, AllHaveTheirBytesWhereThereIsRoom) {
  const std::vector<ir::ConstantRef> constants{numbers(4, 2), ir::cast(numbers(2, 3), DType::f16)};
  const auto made = backend::trial_weights(constants);
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->complete);
  EXPECT_EQ(made->tensors[0].number(3), 2);
  EXPECT_EQ(made->tensors[1].dtype(), DType::f16);
  EXPECT_EQ(made->tensors[1].number(1), 3);
}

TEST(TrialWeights, LargestAreZerosWhereThereIsNone) {
  const std::vector<ir::ConstantRef> constants{numbers(100, 2), numbers(4, 3), numbers(50, 5)};
  const auto made = backend::trial_weights(constants, 250);
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->complete);
  EXPECT_EQ(made->tensors[0].number(99), 0);
  EXPECT_EQ(made->tensors[0].shape(), (Sizes{100}));
  EXPECT_EQ(made->tensors[1].number(0), 3);
  EXPECT_EQ(made->tensors[2].number(0), 5);
}

}  // namespace
}  // namespace tenon::tests
