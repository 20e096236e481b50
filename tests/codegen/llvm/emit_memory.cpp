// SPDX-License-Identifier: Apache-2.0
#include "tile_run.h"

namespace tenon::codegen {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::i8, DType::u16, DType::i64, DType::boolean};

TEST(EmitMemory, EveryWayToLoadAndStore) {
  for (const Target& target : targets())
    for (DType d : kTypes)
      for (int lanes : {1, 4, target.lanes(), 32}) {
        TileKernel k{.name = "memory"};
        TileBuilder b(k);
        const int32_t x = b.argument(d, false), at = b.argument(DType::i64, false), out = b.argument(d, true);
        Data offsets(DType::i64, 64);
        for (int i = 0; i < 64; ++i) offsets.set(i, {0, (i * 7) % 64});
        std::vector<Data> data{random_data(d, 256, 1), offsets, random_data(d, 1024, 2)};
        const Reg zero = b.integer(0), one = b.integer(1), three = b.integer(3), offset = b.load(at, zero, lanes);
        const Reg mask = b.first_mask(b.integer(lanes / 2 + 1), lanes), fill = b.load(x, b.integer(5), lanes);
        const Reg none = b.first_mask(b.integer(-4), lanes);
        const std::vector<MemoryOptions> ways = {{},
                                                 {.mask = mask},
                                                 {.mask = mask, .fill = fill},
                                                 {.stride = three},
                                                 {.stride = three, .mask = mask, .fill = fill},
                                                 {.offsets = offset},
                                                 {.offsets = offset, .mask = mask},
                                                 {.broadcast = true},
                                                 {.mask = mask, .broadcast = true},
                                                 {.mask = none, .fill = fill},
                                                 {.stride = one},
                                                 {.stride = one, .mask = mask},
                                                 {.stride = zero},
                                                 {.stride = b.size(0), .mask = mask}};
        int64_t place = 1;
        for (const MemoryOptions& how : ways) b.store(out, b.integer(place += lanes), b.load(x, b.integer(40), lanes, how));
        const Reg v = b.load(x, b.integer(11), lanes);
        for (const MemoryOptions& how : ways)
          if (!how.broadcast && how.stride != zero)
            b.store(out, b.integer(place += 8), v, {.stride = how.stride, .offsets = how.offsets, .mask = how.mask});
        b.store(out, b.integer(896), v, {.streaming = true});
        b.store(out, b.integer(961), v, {.streaming = true});
        b.prefetch(x, b.integer(100000));
        const int64_t sizes[] = {-1};
        expect_same(k, target, data, sizes, 0, 1);
      }
}

/// PREFETCHW, whose bytes are 0f 0d, where the buffer is written; PREFETCHT0, 0f 18, where it is read.
TEST(EmitMemory, PrefetchesLinesForWritingWhereTheBufferIsWritten) {
  for (const Target& target : targets())
    for (const bool written : {false, true}) {
      TileKernel k{.name = "asks"};
      TileBuilder b(k);
      b.prefetch(b.argument(DType::f32, written), b.integer(4));
      const std::string bytes(reinterpret_cast<const char*>(emitted(k, target).bytes.data()), emitted(k, target).bytes.size());
      EXPECT_EQ(bytes.contains("\x0f\x0d"), written) << target.name;
      EXPECT_EQ(bytes.contains("\x0f\x18"), !written) << target.name;
    }
}

/// One condition for all lanes, beside a mask that is empty from the middle on: what is behind must not be read or written.
TEST(EmitMemory, HalfOfAMaskMayBeEmpty) {
  for (const Target& target : targets())
    for (DType d : kTypes)
      for (int registers : {1, 2, 4})
        for (int64_t size : {0, 1}) {
          const int lanes = std::min(64, registers * target.lanes(d));
          TileKernel k{.name = "half"};
          TileBuilder b(k);
          const int32_t x = b.argument(d, false), out = b.argument(d, true);
          const Reg all = b.splat(b.expr(ExprOp::less, {b.integer(0), b.size(0)}), lanes);
          int64_t place = 0;
          for (int some : {0, 1, lanes / 4, lanes / 2, lanes / 2 + 1}) {
            const Reg mask = b.expr(ExprOp::logical_and, {all, b.first_mask(b.integer(some), lanes)});
            b.store(out, b.integer(place += lanes), b.load(x, b.integer(3), lanes, {.mask = mask}));
            b.store(out, b.integer(place += lanes), b.load(x, b.integer(3), lanes, {.mask = mask, .fill = b.load(x, b.integer(5), lanes)}));
            b.store(out, b.integer(place += lanes), b.load(x, b.integer(7), lanes), {.mask = mask});
          }
          const int64_t sizes[] = {size};
          expect_same(k, target, {random_data(d, 300, 1), random_data(d, place + lanes, 2)}, sizes, 0, 1);
        }
}

TEST(EmitMemory, ScratchIsPrivateAndAligned) {
  for (const Target& target : targets()) {
    const int lanes = target.lanes();
    TileKernel k{.name = "scratch"};
    TileBuilder b(k);
    const int32_t x = b.argument(DType::f32, false), out = b.argument(DType::f32, true);
    const int32_t first = b.scratch(DType::i8, 3), second = b.scratch(DType::f32, 64);
    EXPECT_EQ(k.scratch_bytes(), 64 + 256);
    b.store(first, b.integer(2), b.constant_integer({DType::i8, 1}, 77));
    b.loop(b.integer(0), b.integer(64), b.integer(lanes), [&](Reg i) { b.store(second, i, b.load(x, i, lanes)); });
    b.loop(b.integer(0), b.integer(64), b.integer(1), [&](Reg i) { b.store(out, b.sub(b.integer(63), i), b.load(second, i, 1)); });
    expect_same(k, target, {random_data(DType::f32, 64, 1), Data(DType::f32, 64)}, {}, 0, 1);
  }
}

TEST(EmitControl, LoopsUnrollAndCarry) {
  for (const Target& target : targets())
    for (int unroll : {1, 3, 4}) {
      TileKernel k{.name = "loops"};
      TileBuilder b(k);
      const int32_t x = b.argument(DType::f32, false), out = b.argument(DType::f32, true);
      b.loop(b.task_begin(), b.task_end(), b.integer(1), [&](Reg trips) {
        const auto sums = b.loop(
            b.integer(2), b.add(b.mul(trips, b.integer(2)), b.integer(1)), b.integer(2), {b.constant({DType::f32, 1}, 1), b.integer(0)},
            [&](Reg i, const std::vector<Reg>& now) {
              const Reg next = b.fma(now[0], b.constant({DType::f32, 1}, 0.5), b.load(x, i, 1));
              return std::vector<Reg>{next, b.add(now[1], i)};
            },
            unroll);
        b.store(out, b.mul(trips, b.integer(2)), sums[0]);
        b.store(out, b.add(b.mul(trips, b.integer(2)), b.integer(1)), b.expr(ExprOp::cast, {sums[1]}, DType::f32));
      });
      expect_same(k, target, {random_data(DType::f32, 64, 1), Data(DType::f32, 40)}, {}, 0, 20);
    }
}

TEST(EmitControl, BranchesYield) {
  for (const Target& target : targets()) {
    TileKernel k{.name = "branches"};
    TileBuilder b(k);
    const int32_t x = b.argument(DType::f32, false), out = b.argument(DType::f32, true);
    const Reg limit = b.size(0);
    b.loop(b.task_begin(), b.task_end(), b.integer(8), [&](Reg i) {
      const Reg v = b.load(x, i, 8);
      const auto r = b.branch(
          b.expr(ExprOp::less, {i, limit}), [&] { return std::vector<Reg>{b.mul(v, v), b.integer(3)}; },
          [&] {
            b.branch(b.expr(ExprOp::equal, {i, limit}),
                     [&] {
                       b.store(out, b.integer(64), b.constant({DType::f32, 1}, 9));
                       return std::vector<Reg>{};
                     },
                     {});
            return std::vector<Reg>{v, i};
          });
      b.store(out, i, b.add(r[0], b.expr(ExprOp::cast, {r[1]}, DType::f32)));
    });
    const int64_t sizes[] = {24};
    expect_same(k, target, {random_data(DType::f32, 64, 1), Data(DType::f32, 65)}, sizes, 0, 64);
  }
}

}  // namespace
}  // namespace tenon::codegen
