// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "codegen/llvm/emit.h"
#include "codegen/tile/scalar.h"
#include "runtime/kernel.h"

namespace tenon::codegen {

/// Emitted code in executable memory.
class Loaded {
 public:
  explicit Loaded(const MachineCode& code) : size_(code.bytes.size()), entries_(code.entries) {
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory_, code.bytes.data(), size_);
    mprotect(memory_, size_, PROT_READ | PROT_EXEC);
  }
  Loaded(const Loaded&) = delete;
  ~Loaded() { munmap(memory_, size_); }

  runtime::KernelFunction entry(size_t i) const {
    return reinterpret_cast<runtime::KernelFunction>(static_cast<std::byte*>(memory_) + entries_[i].offset);
  }
  void run(size_t i, const TileKernel& kernel, std::span<void* const> buffers, std::span<const int64_t> sizes, int64_t begin,
           int64_t end) const {
    std::vector<std::byte> scratch(kernel.scratch_bytes() + 64);
    void* aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~uintptr_t{63});
    const runtime::KernelArgs args{buffers.data(), sizes.data(), aligned};
    entry(i)(&args, begin, end);
  }

 private:
  void* memory_;
  size_t size_;
  std::vector<CodeEntry> entries_;
};

/// Those that this machine runs.
inline std::vector<Target> targets() {
  std::vector<Target> out;
  for (const Target* target : all_targets())
    if (cpu_features().has_all(target->needs())) out.push_back(*target);
  return out;
}

/// Emits one kernel; a failure is reported to the running test.
inline MachineCode emitted(const TileKernel& kernel, const Target& target) {
  auto code = emit(std::span(&kernel, 1), target);
  if (!code) ADD_FAILURE() << code.error().text() << "\n" << text_of(kernel);
  return code ? std::move(*code) : MachineCode{};
}

/// Elements of one dtype, filled with edge cases first and random bits or numbers after.
struct Data {
  DType dtype;
  int64_t count;
  std::vector<std::byte> bytes;
  Data(DType d, int64_t n) : dtype(d), count(n), bytes(bytes_of(d, n)) {}
  Scalar get(int64_t i) const { return read_element(dtype, bytes.data() + i * bits_of(dtype) / 8); }
  void set(int64_t i, Scalar v) { write_element(dtype, v, bytes.data() + i * bits_of(dtype) / 8); }
};

Data random_data(DType dtype, int64_t count, uint32_t seed);

/// Runs the kernel through the interpreter and through emitted code on copies of the same data; `ulps`: how many units in the last
/// place floats may differ (NaN equals NaN).
void expect_same(const TileKernel& kernel, const Target& target, const std::vector<Data>& data, std::span<const int64_t> sizes,
                 int64_t begin, int64_t end, double ulps = 0);

}  // namespace tenon::codegen
