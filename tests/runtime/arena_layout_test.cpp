// SPDX-License-Identifier: Apache-2.0
// Where buffers lie in the arena.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

struct Lives {
  Program program;
  std::vector<int64_t> sizes;
  uint64_t bytes(uint32_t b) const { return static_cast<uint64_t>(sizes[b]) * 4; }
};

Lives random_lives(uint64_t seed) {
  std::mt19937_64 draw(seed);
  Lives l;
  const uint32_t count = 1 + static_cast<uint32_t>(draw() % 60), steps = 1 + static_cast<uint32_t>(draw() % 40);
  for (uint32_t k = 0; k < count; ++k) {
    l.program.sizes.push_back({SizeLine::Kind::constant, 0, 0, 0, 0});
    l.sizes.push_back(draw() % 5 == 0 ? 0 : static_cast<int64_t>(draw() % (uint64_t{1} << (draw() % 16 + 1))));
    BufferInfo b = buffer(BufferInfo::Kind::arena, DType::f32, {k}, 0, "");
    b.first = static_cast<uint32_t>(draw() % steps);
    b.last = std::min<uint32_t>(steps, b.first + static_cast<uint32_t>(draw() % 6));
    l.program.buffers.push_back(b);
  }
  l.program.input_lines = count;
  return l;
}

TEST(ArenaLayout, NeverOverlapsBuffersWithOverlappingLives) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Lives l = random_lives(seed);
    const auto& buffers = l.program.buffers;
    auto layout = lay_out(l.program, l.sizes);
    ASSERT_TRUE(layout) << layout.error().text();
    for (uint32_t a = 0; a < buffers.size(); ++a) {
      const uint64_t begin = layout->offsets[a], end = begin + l.bytes(a) + kSlack;
      ASSERT_EQ(begin % 64, 0u) << "seed " << seed;
      ASSERT_LE(end, layout->bytes) << "seed " << seed;
      for (uint32_t b = 0; b < a; ++b) {
        if (buffers[a].last < buffers[b].first || buffers[b].last < buffers[a].first) continue;
        const uint64_t other = layout->offsets[b], other_end = other + l.bytes(b) + kSlack;
        ASSERT_TRUE(end <= other || other_end <= begin) << "seed " << seed << ": buffers " << a << " and " << b;
      }
    }
  }
}

/// Largest first, each at the lowest place that is free during its life: by comparing all with all.
uint64_t plainly_laid_out(const Lives& l) {
  const auto& buffers = l.program.buffers;
  std::vector<uint32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto bytes = [&](uint32_t b) { return (l.bytes(b) + kSlack + 63) / 64 * 64; };
  std::ranges::sort(order, std::less(), [&](uint32_t b) { return std::pair(~bytes(b), b); });
  std::vector<uint32_t> placed;
  std::vector<uint64_t> at(buffers.size());
  uint64_t total = 0;
  for (uint32_t mine : order) {
    for (uint32_t other : placed) {
      if (buffers[other].last < buffers[mine].first || buffers[mine].last < buffers[other].first) continue;
      if (at[mine] + bytes(mine) <= at[other]) break;
      at[mine] = std::max(at[mine], at[other] + bytes(other));
    }
    placed.insert(std::ranges::upper_bound(placed, at[mine], {}, [&](uint32_t b) { return at[b]; }), mine);
    total = std::max(total, at[mine] + bytes(mine));
  }
  return total;
}

TEST(ArenaLayout, IsAsSmallAsThatOfPairwiseComparison) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Lives l = random_lives(seed);
    EXPECT_EQ(lay_out(l.program, l.sizes)->bytes, plainly_laid_out(l)) << "seed " << seed;
  }
}

/// As many as a graph of as many nodes has where nothing is fused: comparing all with all would take minutes.
TEST(ArenaLayout, ReusesMemory) {
  constexpr uint32_t kMany = 300000;
  Lives l;
  for (uint32_t k = 0; k < kMany; ++k) {
    l.program.sizes.push_back({SizeLine::Kind::constant, 0, 0, 0, 0});
    l.sizes.push_back(1000);
    l.program.buffers.push_back(buffer(BufferInfo::Kind::arena, DType::f32, {k}, 0, ""));
    l.program.buffers.back().first = k;
    l.program.buffers.back().last = k + 1;
  }
  l.program.input_lines = kMany;
  EXPECT_EQ(lay_out(l.program, l.sizes)->bytes, 2u * ((4000 + kSlack + 63) / 64 * 64));
}

}  // namespace
}  // namespace tenon::tests
