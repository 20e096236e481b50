// SPDX-License-Identifier: Apache-2.0
#include "tile_run.h"

namespace tenon::codegen {
namespace {

/// out[i] = x[i] * 2 + y[i], tail masked
TileKernel axpy(int lanes) {
  TileKernel k{.name = "axpy"};
  TileBuilder b(k);
  const int32_t x = b.argument(DType::f32, false), y = b.argument(DType::f32, false), out = b.argument(DType::f32, true);
  b.loop(b.task_begin(), b.task_end(), b.integer(lanes), [&](Reg i) {
    const Reg mask = b.first_mask(b.sub(b.task_end(), i), lanes);
    const Reg value = b.fma(b.load(x, i, lanes, {.mask = mask}), b.constant({DType::f32, 1}, 2.0), b.load(y, i, lanes, {.mask = mask}));
    b.store(out, i, value, {.mask = mask});
  });
  return k;
}

TEST(Emit, MapWithMaskedTail) {
  for (const Target& target : targets()) {
    const TileKernel k = axpy(target.lanes());
    const Loaded code(emitted(k, target));
    std::vector<float> x(37), y(37), out(40, -1.0f);
    for (int i = 0; i < 37; ++i) x[i] = i, y[i] = 0.5f * i;
    void* buffers[] = {x.data(), y.data(), out.data()};
    code.run(0, k, buffers, {}, 0, 37);
    for (int i = 0; i < 37; ++i) EXPECT_EQ(out[i], 2.5f * i) << name_of(target) << " " << i;
    EXPECT_EQ(out[37], -1.0f);
  }
}

TEST(Emit, TargetsAreChosenByWhatTheCpuHas) {
  CpuFeatures cpu;
  const auto none = Target::of(cpu);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::wrong_target);
  EXPECT_EQ(none.error()->expected, "AVX2, FMA, F16C and BMI2");
  EXPECT_EQ(none.error()->found, "neither AVX2 nor AVX-512");
  EXPECT_FALSE(none.error()->advice.empty());
  cpu.avx2 = cpu.fma = cpu.f16c = true;
  EXPECT_EQ(Target::of(cpu).error()->found, "AVX2, FMA, F16C") << "BMI2 is used too";
  cpu.bmi2 = true;
  EXPECT_EQ(Target::of(cpu)->isa, Target::Isa::avx2);
  cpu.avx512f = cpu.avx512bw = cpu.avx512vl = cpu.avx512dq = true;
  EXPECT_EQ(Target::of(cpu)->isa, Target::Isa::avx2) << "CD is used too";
  cpu.avx512cd = true;
  EXPECT_EQ(Target::of(cpu)->isa, Target::Isa::avx512);
}

TEST(Emit, BytesDoNotDependOnThreads) {
  std::vector<TileKernel> kernels;
  for (int lanes : {8, 16, 4, 8, 16, 32}) kernels.push_back(axpy(lanes));
  for (const Target& target : targets()) {
    const auto one = emit(kernels, target, 1), three = emit(kernels, target, 3);
    ASSERT_TRUE(one && three);
    EXPECT_EQ(one->bytes, three->bytes);
    ASSERT_EQ(one->entries.size(), kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i) EXPECT_EQ(one->entries[i].offset, three->entries[i].offset);
  }
}

TEST(Emit, BadTileIrIsRefused) {
  TileKernel k = axpy(8);
  k.body.back().args[0] = 1000;
  const auto code = emit(std::span(&k, 1), Target{Target::Isa::avx2});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code(), Code::internal);
}

}  // namespace
}  // namespace tenon::codegen
