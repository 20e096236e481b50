// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/trace.h"

#include <gtest/gtest.h>

namespace tenon::cli {
namespace {

using Kind = runtime::BufferInfo::Kind;

runtime::BufferInfo buffer(Kind kind, std::vector<runtime::Slot> shape) {
  runtime::BufferInfo b;
  b.kind = kind;
  b.shape = std::move(shape);
  return b;
}

constexpr int64_t kSizes[] = {10, 100};

/// Steps that read these buffers. Lines 0 and 1 of the size table are kSizes; buffer 0 is a weight f32[100,10], buffer 1 the same
/// bytes once more, buffer 2 no weight.
runtime::Program program_of(const std::vector<std::vector<uint32_t>>& reads) {
  runtime::Program p;
  p.sizes.resize(std::size(kSizes));
  p.buffers = {buffer(Kind::weight, {1, 0}), buffer(Kind::alias, {1, 0}), buffer(Kind::arena, {0})};
  for (const auto& buffers : reads) p.steps.emplace_back().buffers = buffers;
  return p;
}

TEST(FlopsByProducts, CountsAStepAtWhatItMultiplies) {
  auto p = program_of({{0}, {1}, {2}, {0}});
  std::get<runtime::KernelStep>(p.steps[1].kind).factors = DType::bf16;
  std::get<runtime::KernelStep>(p.steps[2].kind).factors = DType::i8;
  const ByProductKind flops = flops_by_products(p, std::vector<double>{1, 20, 300, 4});
  EXPECT_EQ(flops, (ByProductKind{5, 20, 300}));
  EXPECT_DOUBLE_EQ(least_ms({5e9, 20e9, 0}, {100, 400, 0}), 100);
}

TEST(WeightBytesRead, CountsAWeightOnceHoweverManyStepsReadIt) {
  const auto p = program_of({{0, 2}, {1, 2}});
  EXPECT_EQ(weight_bytes_read(p, kSizes, std::vector<double>{2000, 2000}), 4000);
}

TEST(WeightBytesRead, TakesAGatherForTheRowsThatItReads) {
  const auto p = program_of({{0, 2}});
  EXPECT_EQ(weight_bytes_read(p, kSizes, std::vector<double>{30}), 120);
}

TEST(WeightBytesRead, LeavesActivationsAndMissingOperandsOut) {
  const auto p = program_of({{2, runtime::kMissing}});
  EXPECT_EQ(weight_bytes_read(p, kSizes, std::vector<double>{1000}), 0);
}

}  // namespace
}  // namespace tenon::cli
