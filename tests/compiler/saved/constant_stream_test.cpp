// SPDX-License-Identifier: Apache-2.0
#include "compiler/constant_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

ir::ConstantRef counting(Sizes shape, float first) {
  std::vector<float> data(static_cast<size_t>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>())));
  std::iota(data.begin(), data.end(), first);
  return ir::constant_of(Tensor::of_f32(std::move(shape), data));
}

/// Computed and plain ones, of sizes that grow and shrink: what a thread of its own computes and what is computed when asked for.
std::vector<ir::ConstantRef> of_all_kinds() {
  std::vector<ir::ConstantRef> out;
  for (const int64_t n : {3, 400, 500, 0, 300, 700, 700, 5}) {
    const auto first = static_cast<float>(out.size());
    out.push_back(ir::permute(counting({n, 300}, first), {1, 0}));
    out.push_back(counting({n, 2}, first));
    out.push_back(ir::pack(counting({300, n + 1}, first), 32));
  }
  return out;
}

TEST(ConstantStream, GivesTheBytesOfEachInTheirOrder) {
  const std::vector<ir::ConstantRef> constants = of_all_kinds();
  ConstantStream all(constants);
  for (const ir::ConstantRef& c : constants) {
    const auto got = all.next();
    const auto want = ir::materialise(*c);
    ASSERT_TRUE(got && want);
    EXPECT_TRUE(std::ranges::equal(*got, std::span(want->data(), static_cast<size_t>(want->byte_size())))) << c->count();
  }
}

TEST(ConstantStream, GivesTheErrorOfTheOneThatFailsInItsPlace) {
  const ir::ConstantRef good = ir::permute(counting({500, 300}, 1), {1, 0});
  ir::Constant::Reference bytes;
  bytes.location = "weights.bin";
  const ir::ConstantRef unread = ir::permute(ir::reference_to(std::move(bytes), DType::f32, {500, 300}), {1, 0});
  ConstantStream all({good, unread, good});
  EXPECT_TRUE(all.next());
  const auto failed = all.next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::file_missing);
  EXPECT_TRUE(all.next());
}

TEST(ConstantStream, MayBeLeftBeforeItsEnd) {
  ConstantStream all(of_all_kinds());
  EXPECT_TRUE(all.next());
}

}  // namespace
}  // namespace tenon::compiler
