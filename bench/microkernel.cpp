// SPDX-License-Identifier: Apache-2.0
// What each register tile of a contraction reaches that a target has registers for: hot (its operands in the caches) as a share of the FMA
// peak, cold (panels of B from memory, as with weights in few rows) as a share of what peak or memory allow. Peak and rate of memory are
// measured before and after each sample, on the same threads. JSON on stdout, a line a tile.
//
// bench_microkernel [THREADS [TARGET [ROWSxVECTORS [FORM]]]]: the best target of this CPU, all of its tiles, f32; FORM: bf16 or bytes.
#include <fmt/format.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/threads/thread_pool.h"
#include "cli/bench/measure.h"
#include "cli/bench/memory_stream.h"
#include "codegen/llvm/emit.h"
#include "runtime/kernel.h"

namespace {

using namespace tenon;
using namespace tenon::codegen;
using cli::FmaPeak, cli::MemoryStream, cli::Sample;
using Json = nlohmann::ordered_json;

constexpr int64_t kDepth = 768;
constexpr int64_t kRowStride = kDepth + 16;                 // rows do not meet in one set of the cache
constexpr int64_t kPanelFloats = (int64_t{192} << 20) / 4;  // more than caches hold
constexpr int kPrefetch = 4096;
constexpr int kMostRows = 24, kMostVectors = 8, kFewest = 4;
constexpr size_t kSamples = 7, kTries = 21;
constexpr double kSampleMs = 10;

int registers_of(int rows, int vectors) { return rows * vectors + vectors + 1; }

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

/// What is multiplied, and how many products an instruction takes.
struct Form {
  std::string_view name;
  DType a, b, sum;
  int products;
  cli::ProductKind peak;
};
constexpr Form kForms[] = {{"f32", DType::f32, DType::f32, DType::f32, 1, cli::ProductKind::f32},
                           {"bf16", DType::bf16, DType::bf16, DType::f32, 2, cli::ProductKind::bf16},
                           {"bytes", DType::u8, DType::i8, DType::i32, 4, cli::ProductKind::bytes}};

/// Tasks are tiles; sizes: stride of A's rows, of its columns, elements from one tile's panel to the next one's.
TileKernel tile_kernel(const Form& form, int rows, int vectors, int lanes, int prefetch) {
  TileKernel k{.name = "tile"};
  TileBuilder b(k);
  const int32_t a = b.argument(form.a, false), w = b.argument(form.b, false), out = b.argument(form.sum, true);
  const Reg row = b.size(0), column = b.size(1), panel = b.size(2), depth = b.integer(kDepth / form.products);
  b.loop(b.task_begin(), b.task_end(), b.integer(1), [&](Reg task) {
    Contract c{.rows = rows, .vectors = vectors, .lanes = lanes, .a = a, .b = w, .depth = depth, .accumulator = form.sum};
    c.products = form.products;
    c.prefetch_b_bytes = prefetch;
    c.a_row_stride = row;
    c.a_k_stride = column;
    c.b_offset = b.mul(task, panel);
    const std::vector<Reg> sums = b.contract(c);
    for (int i = 0; i < rows * vectors; ++i) b.store(out, b.integer(i * lanes), sums[static_cast<size_t>(i)]);
  });
  return k;
}

/// Machine code in memory that may run.
struct Loaded {
  MachineCode code;
  void* memory = MAP_FAILED;
  runtime::KernelFunction entry() const {
    return reinterpret_cast<runtime::KernelFunction>(static_cast<std::byte*>(memory) + code.entries[0].offset);
  }
};

Result<Loaded> load(const TileKernel& kernel, const Target& target) {
  Loaded l{.code = TRY(emit(std::span(&kernel, 1), target))};
  const size_t size = l.code.bytes.size();
  l.memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (l.memory == MAP_FAILED) return fail(Code::out_of_memory, "bench_microkernel", "no memory for code");
  std::memcpy(l.memory, l.code.bytes.data(), size);
  if (mprotect(l.memory, size, PROT_READ | PROT_EXEC) != 0) return fail(Code::not_supported, "bench_microkernel", "code cannot be run");
  return l;
}

struct Bench {
  int threads;
  const Target& target;
  const Form& form;
  FmaPeak peak{threads, form.peak};
  int64_t element = bits_of(form.b) / 8;
  MemoryStream memory{threads};
  std::vector<float> a = std::vector<float>(kMostRows * kRowStride + 16, 0.5f), w = std::vector<float>(kPanelFloats + 4096, 0.25f);
  std::vector<float> out = std::vector<float>(static_cast<size_t>(threads) * 4096);

  static void* aligned(std::vector<float>& v, size_t at = 0) {
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(v.data() + at) + 63) & ~uintptr_t{63});
  }
  double ms_of(runtime::KernelFunction kernel, const int64_t (&sizes)[3], int64_t tasks) {
    const auto start = Clock::now();
    default_thread_pool().run(
        tasks, 1,
        [&](int64_t begin, int64_t end, int thread) {
          void* buffers[] = {aligned(a), aligned(w), aligned(out, static_cast<size_t>(thread) * 4000)};
          const runtime::KernelArgs args{buffers, sizes, nullptr};
          kernel(&args, begin, end);
        },
        threads);
    return ms_since(start);
  }
};

/// A way to run a tile: how A lies, and how far the panels of B are from each other (0: always the same one).
struct Way {
  std::string_view name;
  int64_t row, column, panel;
  int prefetch;  ///< bytes ahead
};

Json measured(Bench& b, runtime::KernelFunction kernel, const Way& way, double flops, double bytes) {
  const int64_t sizes[] = {way.row, way.column, way.panel};
  const int64_t most = way.panel ? kPanelFloats * 4 / b.element / way.panel : int64_t{1} << 40;
  int64_t tasks = std::min<int64_t>(most, 64);
  while (tasks < most && b.ms_of(kernel, sizes, tasks) < kSampleMs) tasks = std::min(most, 2 * tasks);
  std::vector<Sample> samples;
  size_t quiet = 0;
  while (quiet < kSamples && samples.size() < kTries) {
    Sample s;
    s.dram.push_back(b.memory.read());  // leaves no panel in the caches
    s.peaks.push_back(b.peak.measure());
    if (!way.panel) b.ms_of(kernel, sizes, tasks / 4 + 1);
    s.ours_ms.push_back(b.ms_of(kernel, sizes, tasks));
    s.peaks.push_back(b.peak.measure());
    samples.push_back(std::move(s));
    quiet = cli::keep_quiet(samples, 0).quiet;
  }
  std::vector<double> gflops, peaks, partition;
  for (const Sample* s : cli::keep_quiet(samples, kSamples / 2).samples) {
    const double peak = (s->peaks[0] + s->peaks[1]) / 2, total = static_cast<double>(tasks);
    const double least_ms = std::max(flops / peak, way.panel ? bytes / s->dram[0] : 0) * total / 1e6;
    gflops.push_back(flops * total / s->ours_ms[0] / 1e6);
    peaks.push_back(peak);
    partition.push_back(least_ms / s->ours_ms[0]);
  }
  return {{"gflops", cli::median(gflops)},
          {"peak", cli::median(peaks)},
          {"share", cli::median(partition)},
          {"quiet", quiet},
          {"tried", samples.size()}};
}

Result<void> bench_tile(Bench& b, int rows, int vectors) {
  Json json{{"target", b.target.name}, {"form", b.form.name}, {"rows", rows}, {"vectors", vectors}};
  const int64_t panel = kDepth * vectors * b.target.lanes();
  const double bytes = static_cast<double>(panel * b.element), flops = 2.0 * rows * static_cast<double>(panel);
  const Way ways[] = {{"hot", kRowStride, 1, 0, 0},
                      {"hot_k_major", b.form.products, int64_t{rows} * b.form.products, 0, 0},
                      {"hot_prefetch", kRowStride, 1, 0, kPrefetch},
                      {"cold", kRowStride, 1, panel, kPrefetch}};
  for (const Way& way : ways) {
    const auto start = Clock::now();
    const Loaded l = TRY(load(tile_kernel(b.form, rows, vectors, b.target.lanes(), way.prefetch), b.target));
    const double emit_ms = ms_since(start);
    json[way.name] = measured(b, l.entry(), way, flops, bytes);
    json[way.name].update({{"emit_ms", emit_ms}, {"code_bytes", l.code.bytes.size()}});
    munmap(l.memory, l.code.bytes.size());
  }
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
  return {};
}

Result<const Form*> form_named(std::string_view name) {
  for (const Form& f : kForms)
    if (f.name == name) return &f;
  return fail(Code::bad_usage, std::string(name), "there is no such form").expected("f32, bf16, bytes");
}

Result<void> bench_tiles(int threads, const char* name, std::string_view only, std::string_view form_name) {
  const Target& target = *TRY(name ? target_named(name) : target_for());
  if (!cpu_features().has_all(target.needs()))
    return fail(Code::wrong_target, std::string(target.name), "this CPU cannot run its code").expected(target.needs()).found("less");
  const Form& form = *TRY(form_named(form_name));
  if (!target.multiply_add(form.a, form.b, form.sum))
    return fail(Code::bad_usage, std::string(target.name), "the target has no instruction for such products");
  Bench b{.threads = threads, .target = target, .form = form};
  for (int vectors = 1; vectors <= kMostVectors; ++vectors)
    for (int rows = 1; rows <= kMostRows && registers_of(rows, vectors) <= target.registers; ++rows)
      if (only.empty() ? rows * vectors >= kFewest : only == fmt::format("{}x{}", rows, vectors)) TRY(bench_tile(b, rows, vectors));
  return {};
}

}  // namespace

int main(int count, char** words) {
  const int threads = count > 1 ? std::clamp(std::atoi(words[1]), 1, default_thread_pool().size()) : 1;
  const auto done =
      bench_tiles(threads, count > 2 && *words[2] ? words[2] : nullptr, count > 3 ? words[3] : "", count > 4 ? words[4] : "f32");
  if (!done) fmt::print(stderr, "{}\n", done.error().text());
  return done ? 0 : 1;
}
