// SPDX-License-Identifier: Apache-2.0
// Share of the FMA peak that each contraction tile reaches: hot, K = 768, B packed, A row-major (stride padded) and k-major.
// Each line: the best of many short runs, beside the best of a pure FMA loop taken between them. Also the time to emit a kernel.
#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "codegen/emit.h"
#include "runtime/kernel.h"

using namespace tenon;
using namespace tenon::codegen;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Loaded {
  MachineCode code;
  void* memory = nullptr;
  double emit_ms = 0;
  runtime::KernelFunction entry() const {
    return reinterpret_cast<runtime::KernelFunction>(static_cast<std::byte*>(memory) + code.entries[0].offset);
  }
};

Loaded load(const TileKernel& kernel, const Target& target) {
  Loaded l;
  const double start = now();
  auto code = emit(std::span(&kernel, 1), target);
  l.emit_ms = 1e3 * (now() - start);
  if (!code) {
    std::printf("%s\n", code.error().text().c_str());
    std::exit(1);
  }
  l.code = std::move(*code);
  l.memory = mmap(nullptr, l.code.bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(l.memory, l.code.bytes.data(), l.code.bytes.size());
  mprotect(l.memory, l.code.bytes.size(), PROT_READ | PROT_EXEC);
  return l;
}

/// tasks: repetitions of the same tile.
TileKernel tile(int rows, int vectors, int lanes, int64_t depth, bool k_major, int prefetch) {
  TileKernel k{.name = "tile"};
  TileBuilder b(k);
  const int32_t a = b.argument(DType::f32, false), w = b.argument(DType::f32, false), out = b.argument(DType::f32, true);
  const Reg kdepth = b.size(0), stride = b.size(1);
  b.loop(b.task_begin(), b.task_end(), b.integer(1), [&](Reg) {
    Contract c{.rows = rows, .vectors = vectors, .lanes = lanes, .a = a, .b = w, .depth = kdepth, .prefetch_b_bytes = prefetch};
    c.a_row = k_major ? b.integer(1) : stride;
    c.a_k = k_major ? b.integer(rows) : kNone;
    const std::vector<Reg> acc = b.contract(c);
    for (int i = 0; i < rows * vectors; ++i) b.store(out, b.integer(i * lanes), acc[i]);
  });
  (void)depth;
  return k;
}

/// 12 independent chains of fused multiply-adds without memory.
TileKernel peak(int lanes) {
  TileKernel k{.name = "peak"};
  TileBuilder b(k);
  const int32_t out = b.argument(DType::f32, true);
  std::vector<Reg> start(12);
  for (Reg& r : start) r = b.load(out, b.integer(0), lanes);
  const Reg x = b.load(out, b.integer(0), lanes);
  const auto end = b.loop(
      b.task_begin(), b.task_end(), b.integer(1), start,
      [&](Reg, const std::vector<Reg>& now) {
        std::vector<Reg> next;
        for (Reg r : now) next.push_back(b.fma(x, x, r));
        return next;
      },
      4);
  for (int i = 0; i < 12; ++i) b.store(out, b.integer(i * lanes), end[i]);
  return k;
}

double best_gflops(runtime::KernelFunction f, const runtime::KernelArgs& args, double flops_per_task, int64_t tasks) {
  double best = 0;
  for (int i = 0; i < 12; ++i) {
    const double start = now();
    f(&args, 0, tasks);
    best = std::max(best, flops_per_task * static_cast<double>(tasks) / (now() - start) * 1e-9);
  }
  return best;
}

}  // namespace

int main() {
  struct Case {
    std::string_view target;
    int rows, vectors;
  };
  const Case cases[] = {{"x86_avx512", 14, 2}, {"x86_avx512", 13, 2}, {"x86_avx512", 12, 2}, {"x86_avx512", 10, 2}, {"x86_avx512", 8, 3},
                        {"x86_avx512", 9, 3},  {"x86_avx512", 6, 4},  {"x86_avx512", 7, 4},  {"x86_avx512", 5, 4},  {"x86_avx512", 4, 4},
                        {"x86_avx512", 4, 6},  {"x86_avx512", 2, 8},  {"x86_avx512", 1, 8},  {"x86_avx512", 1, 4},  {"x86_avx512", 24, 1},
                        {"x86_avx2", 6, 2},    {"x86_avx2", 4, 3},    {"x86_avx2", 5, 2},    {"x86_avx2", 4, 2},    {"x86_avx2", 2, 4},
                        {"x86_avx2", 1, 8}};
  constexpr int64_t kDepth = 768;
  std::vector<float> a(64 * (kDepth + 16), 0.5f), w(kDepth * 256 + 8192, 0.25f), out(4096);
  auto aligned = [](std::vector<float>& v) {
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(v.data()) + 63) & ~uintptr_t{63});
  };
  void* buffers[] = {aligned(a), aligned(w), aligned(out)};
  void* peak_buffers[] = {aligned(out)};
  const int64_t sizes[] = {kDepth, kDepth + 16};
  for (const Case& c : cases) {
    const Target& target = **target_named(c.target);
    if (!cpu_features().has_all(target.needs)) continue;
    const Loaded roof = load(peak(target.lanes()), target);
    for (const bool k_major : {false, true}) {
      const Loaded l = load(tile(c.rows, c.vectors, target.lanes(), kDepth, k_major, 0), target);
      const runtime::KernelArgs args{buffers, sizes, nullptr}, peak_args{peak_buffers, sizes, nullptr};
      const double flops = 2.0 * c.rows * c.vectors * target.lanes() * kDepth;
      double best = 0, top = 0;
      for (int round = 0; round < 6; ++round) {
        top = std::max(top, best_gflops(roof.entry(), peak_args, 2.0 * 12 * target.lanes(), 100000));
        best = std::max(best, best_gflops(l.entry(), args, flops, std::max<int64_t>(1, static_cast<int64_t>(4e7 / flops))));
      }
      std::printf("%-7s %2dx%d %-9s %6.1f GF/s of %6.1f = %5.1f %%  emit %.2f ms, %zu bytes\n", target.title.data(), c.rows, c.vectors,
                  k_major ? "k-major" : "row-major", best, top, 100 * best / top, l.emit_ms, l.code.bytes.size());
      std::fflush(stdout);
      if (const char* folder = std::getenv("TENON_DUMP")) {
        char name[256];
        std::snprintf(name, sizeof name, "%s/%s_%dx%d_%d.bin", folder, target.name.data(), c.rows, c.vectors, k_major);
        if (std::FILE* f = std::fopen(name, "wb")) {
          std::fwrite(l.code.bytes.data(), 1, l.code.bytes.size(), f);
          std::fclose(f);
        }
      }
    }
  }
}
