// SPDX-License-Identifier: Apache-2.0
#include "compiler/place_weights.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>

#include "base/checked.h"
#include "base/threads/thread_pool.h"
#include "compiler/release_pages.h"
#include "files/anonymous_file.h"

namespace tenon::compiler {

namespace {

constexpr int64_t kWorthAFile = 1 << 20;

/// The pages that lie whole in this memory come from a file, the ends stay what they are.
Result<void> place_table(const ir::Constant& constant, std::span<std::byte> memory) {
  const Tensor table = TRY(ir::materialise(constant));
  const std::span<const std::byte> bytes(table.data(), memory.size());
  const auto first = reinterpret_cast<int64_t>(memory.data()), last = first + static_cast<int64_t>(memory.size()),
             page = sysconf(_SC_PAGESIZE);
  const auto begin = static_cast<size_t>(round_up(first, page) - first), end = static_cast<size_t>(last / page * page - first);
  if (!files::map_anonymous_file(memory.subspan(begin, end - begin), bytes.subspan(begin, end - begin))) {
    std::memcpy(memory.data(), bytes.data(), bytes.size());
    return {};
  }
  std::memcpy(memory.data(), bytes.data(), begin);
  std::memcpy(memory.data() + end, bytes.data() + end, bytes.size() - end);
  return {};
}

Result<void> place(const program::PlacedConstant& weight, std::byte* memory) {
  const ir::Constant& constant = *weight.constant;
  const std::span<std::byte> bytes(memory + weight.offset, static_cast<size_t>(constant.byte_size()));
  const bool in_file = weight.is_lookup_table && constant.byte_size() >= kWorthAFile;
  TRY(in_file ? place_table(constant, bytes) : ir::materialise_into(constant, bytes));
  release_pages(constant);
  return {};
}

/// Materialises the weights on all threads. The body of a thread pool must not throw, so an exception is stored and thrown by the caller.
Result<void> place_all(std::span<const program::PlacedConstant> weights, std::byte* memory) {
  std::mutex lock;
  Result<void> first;  // that failed
  bool no_memory = false;
  default_thread_pool().run(static_cast<int64_t>(weights.size()), 1, [&](int64_t begin, int64_t end, int) {
    for (const program::PlacedConstant& w : weights.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin))) {
      Result<void> placed;
      bool threw = false;
      try {
        placed = place(w, memory);
      } catch (const std::bad_alloc&) { threw = true; }
      const std::scoped_lock held(lock);
      no_memory = no_memory || threw;
      if (!placed && first) first = std::move(placed);
    }
  });
  if (no_memory) throw std::bad_alloc();
  return first;
}

}  // namespace

Result<PlacedWeights> place_weights(const program::LinkedPrograms& built) {
  const uint64_t bytes = built.programs.weight_bytes + runtime::kSlack;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return fail(Code::out_of_memory, "weights", "no memory for the weights")
        .expected(std::to_string(bytes) + " bytes")
        .found(std::strerror(errno));
  const auto release = [bytes](const void* p) { munmap(const_cast<void*>(p), bytes); };
  PlacedWeights out{{static_cast<const std::byte*>(memory), bytes}, std::shared_ptr<const void>(memory, release)};
  TRY(place_all(built.weights, static_cast<std::byte*>(memory)));
  return out;
}

}  // namespace tenon::compiler
