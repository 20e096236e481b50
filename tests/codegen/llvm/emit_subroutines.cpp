// SPDX-License-Identifier: Apache-2.0
// Functions that a kernel or a program has often are generated once.
#include "tile_run.h"

namespace tenon::codegen {
namespace {

/// out[i] = f(f(... f(x[i], y[i]) ..., y[i]), y[i]).
TileKernel repeated(ExprOp op, DType d, int lanes, int times) {
  TileKernel k{.name = "repeated"};
  TileBuilder b(k);
  const int32_t x = b.argument(d, false), y = b.argument(d, false), out = b.argument(d, true);
  b.loop(b.task_begin(), b.task_end(), b.integer(lanes), [&](Reg i) {
    Reg v = b.load(x, i, lanes);
    const Reg by = b.load(y, i, lanes);
    for (int t = 0; t < times; ++t) {
      std::vector<Reg> args{b.add(v, by)};
      if (operands_of(op) == 2) args.push_back(by);
      v = b.expr(op, args);
    }
    b.store(out, i, v);
  });
  return k;
}

TEST(EmitSubroutines, FunctionsThatAKernelHasOftenAreSubroutines) {
  for (const Target& target : targets())
    for (ExprOp op : {ExprOp::tanh, ExprOp::atan, ExprOp::pow})
      for (DType d : {DType::f32, DType::f64, DType::f16})
        for (int lanes : {1, target.lanes(), 2 * target.lanes()}) {
          std::vector<Data> data{Data(d, 64), Data(d, 64), Data(d, 64)};
          for (int64_t i = 0; i < 64; ++i) {
            data[0].set(i, rounded(d, {0.01 * static_cast<double>(i), 0}));
            data[1].set(i, rounded(d, {0.3 + 0.01 * static_cast<double>(i), 0}));
          }
          expect_same(repeated(op, d, lanes, 9), target, data, {}, 0, 64, d == DType::f16 ? 8 : 40);
        }
  const Target& target = **target_named("x86_avx2");
  const auto bytes = [&](int times) { return emitted(repeated(ExprOp::sin, DType::f32, target.lanes(), times), target).bytes.size(); };
  EXPECT_LE(bytes(64), bytes(4));  // 64 calls, and one copy
}

size_t bytes_of_program(const TileKernel& kernel, size_t times) {
  const auto code = emit(std::vector<TileKernel>(times, kernel), **target_named("x86_avx2"));
  EXPECT_TRUE(code) << code.error().text();
  return code ? code->bytes.size() : 0;
}

TEST(EmitSubroutines, SubroutinesAreEmittedOnceInAProgram) {
  const TileKernel calling = repeated(ExprOp::sin, DType::f32, 8, 9), copying = repeated(ExprOp::sin, DType::f32, 8, 1);
  const size_t copy = bytes_of_program(copying, 1), one = bytes_of_program(calling, 1), many = bytes_of_program(calling, 33);
  EXPECT_LE((many - one) / 32, copy / 2) << "nine calls, and no copy";
}

/// The same numbers as by a copy; that is what makes the size of large programs, and with it the time of a build.
TEST(EmitSubroutines, AProgramOfManyFunctionsCallsThem) {
  const TileKernel kernel = repeated(ExprOp::sin, DType::f32, 8, 1);
  EXPECT_LE(bytes_of_program(kernel, 200) / 200, bytes_of_program(kernel, 1) / 2);
  for (const Target& target : targets()) {
    const auto many = emit(std::vector<TileKernel>(200, kernel), target, 2);
    ASSERT_TRUE(many) << many.error().text();
    const Loaded copied(emitted(kernel, target)), called(*many);
    std::vector<float> x(64), y(64, 0.0f), by_copy(64), by_call(64);
    for (int i = 0; i < 64; ++i) x[i] = 0.3f * static_cast<float>(i) - 7;
    copied.run(0, kernel, std::vector<void*>{x.data(), y.data(), by_copy.data()}, {}, 0, 64);
    for (size_t k : {0, 101, 199}) {
      called.run(k, kernel, std::vector<void*>{x.data(), y.data(), by_call.data()}, {}, 0, 64);
      EXPECT_EQ(std::memcmp(by_copy.data(), by_call.data(), 64 * sizeof(float)), 0) << target.name << " " << k;
    }
  }
}

}  // namespace
}  // namespace tenon::codegen
