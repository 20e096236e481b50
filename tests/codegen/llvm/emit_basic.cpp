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
    for (int i = 0; i < 37; ++i) EXPECT_EQ(out[i], 2.5f * i) << target.name << " " << i;
    EXPECT_EQ(out[37], -1.0f);
  }
}

TEST(Emit, TargetsAreChosenByWhatTheCpuHas) {
  CpuFeatures cpu;
  const auto none = target_for(cpu);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::wrong_target);
  EXPECT_EQ(none.error()->expected, "avx2 fma f16c bmi2");
  EXPECT_EQ(none.error()->found, "none that generated code uses");
  EXPECT_FALSE(none.error()->advice.empty());
  cpu = {"avx2", "fma", "f16c"};
  EXPECT_EQ(target_for(cpu).error()->found, "avx2, fma, f16c") << "BMI2 is used too";
  cpu.set("bmi2");
  EXPECT_EQ((*target_for(cpu))->name, "x86_avx2");
  for (const char* name : {"avx512f", "avx512bw", "avx512vl", "avx512dq"}) cpu.set(name);
  EXPECT_EQ((*target_for(cpu))->name, "x86_avx2") << "CD is used too";
  cpu.set("avx512cd");
  EXPECT_EQ((*target_for(cpu))->name, "x86_avx512");
  cpu.set("avx512_bf16");
  EXPECT_EQ((*target_for(cpu))->name, "x86_avx512") << "no CPU has BF16 without VNNI";
  cpu.set("avx512_bf16", false), cpu.set("avx512_vnni");
  EXPECT_EQ((*target_for(cpu))->name, "x86_avx512_vnni");
  cpu.set("avx512_bf16");
  EXPECT_EQ((*target_for(cpu))->name, "x86_avx512_bf16");
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
  const auto code = emit(std::span(&k, 1), **target_named("x86_avx2"));
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code(), Code::internal);
}

}  // namespace
}  // namespace tenon::codegen
