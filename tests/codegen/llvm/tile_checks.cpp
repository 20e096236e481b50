// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "tile_run.h"

namespace tenon::codegen {
namespace {

/// out[i] = x[i] + 1 in steps of four.
TileKernel increments() {
  TileKernel k{.name = "increments"};
  TileBuilder b(k);
  const int32_t x = b.argument(DType::f32, false), out = b.argument(DType::f32, true);
  const auto sum =
      b.loop(b.task_begin(), b.task_end(), b.integer(4), {b.constant({DType::f32, 4}, 0)}, [&](Reg i, const std::vector<Reg>& now) {
        const Reg v = b.add(b.load(x, i, 4), b.constant({DType::f32, 1}, 1));
        b.store(out, i, v);
        return std::vector<Reg>{b.add(now[0], v)};
      });
  b.store(out, b.integer(0), b.reduce(sum[0], ops::Combine::sum));
  return k;
}

Result<void> run(const TileKernel& k, int64_t x_count, int64_t out_count, int64_t end) {
  std::vector<float> x(x_count, 1.0f), out(out_count);
  const BoundBuffer buffers[] = {{reinterpret_cast<std::byte*>(x.data()), x_count}, {reinterpret_cast<std::byte*>(out.data()), out_count}};
  auto done = interpret(k, buffers, {}, 0, end);
  if (done && end > 0) EXPECT_EQ(out[0], 2.0f * static_cast<float>(end));
  return done;
}

TEST(TileInterpret, RunsAndChecksBounds) {
  EXPECT_TRUE(run(increments(), 8, 8, 8));
  for (const auto& bad : {run(increments(), 7, 8, 8), run(increments(), 8, 7, 8)}) {
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code(), Code::index_out_of_range);
  }
  EXPECT_FALSE(interpret(increments(), {}, {}, 0, 4));
}

TEST(TileText, SaysWhatTheKernelDoes) {
  TileKernel k{.name = "scaled"};
  TileBuilder b(k);
  const int32_t x = b.argument(DType::f32, false), out = b.argument(DType::f32, true), temporary = b.scratch(DType::i8, 16);
  const Reg count = b.size(0), zero = b.integer(0);
  const auto sum = b.loop(
      zero, count, count, {b.constant({DType::f32, 4}, 0.5)},
      [&](Reg i, const std::vector<Reg>& now) {
        const Reg mask = b.first_mask(count, 4);
        return std::vector<Reg>{b.fma(b.load(x, i, 4, {.mask = mask}), now[0], now[0])};
      },
      2);
  const Reg total = b.reduce(sum[0], ops::Combine::sum);
  b.branch(b.expr(ExprOp::less, {zero, count}),
           [&] {
             b.store(out, zero, total);
             return std::vector<Reg>{};
           },
           {});
  b.prefetch(temporary, zero);
  const std::string wanted = R"(kernel scaled sizes=1
  b0 = argument 0 f32
  b1 = argument 1 f32 written
  b2 = scratch i8[16]
  %0: i64 = size 0
  %1: i64 = constant 0
  %2: f32x4 = constant 0.5
  %8 = loop %3 from %1 to %0 step %0 unroll 2 carry %4 = %2 {
    %5: boolx4 = first_mask %0
    %6: f32x4 = load b0[%3] mask=%5
    %7: f32x4 = fma %6, %4, %4
    yield %7
  }
  %9: f32 = reduce sum %8
  %10: bool = less %1, %0
  branch %10 {
    store b1[%1], %9: f32
  }
  prefetch b2[%1]
)";
  EXPECT_EQ(text_of(k), wanted);
}

/// Each mutation must be found.
TEST(TileVerify, FindsWhatIsWrong) {
  ASSERT_TRUE(verify(increments()));
  struct Mutation {
    const char* what;
    void (*apply)(TileKernel&);
  };
  const Mutation mutations[] = {
      {"a store into a buffer that is only read", [](TileKernel& k) { k.buffers[1].written = false; }},
      {"a buffer that is not there", [](TileKernel& k) { k.buffers.pop_back(); }},
      {"a register of another type", [](TileKernel& k) { k.registers[k.body.back().args[1]] = {DType::i32, 1}; }},
      {"lanes that are no power of two", [](TileKernel& k) { k.registers[0].lanes = 3; }},
      {"a second write", [](TileKernel& k) { k.body.push_back(k.body[0]); }},
      {"a use before the definition", [](TileKernel& k) { std::rotate(k.body.begin(), k.body.end() - 1, k.body.end()); }},
      {"a value of an inner block used outside",
       [](TileKernel& k) {
         for (TileInstr& in : k.body)
           if (in.op == TileOp::loop) k.body.back().args[1] = in.induction;
       }},
      {"too few yields",
       [](TileKernel& k) {
         for (TileInstr& in : k.body)
           if (in.op == TileOp::loop) in.yields.clear();
       }},
      {"an operator without its operand",
       [](TileKernel& k) {
         for (TileInstr& in : k.body)
           if (in.op == TileOp::loop) in.body.back().args.clear();
       }},
      {"a dtype without arithmetic", [](TileKernel& k) { k.buffers[0].dtype = DType::string; }},
  };
  for (const Mutation& m : mutations) {
    TileKernel k = increments();
    m.apply(k);
    const auto found = verify(k);
    ASSERT_FALSE(found) << m.what;
    EXPECT_EQ(found.error().code(), Code::internal);
  }
}

}  // namespace
}  // namespace tenon::codegen
