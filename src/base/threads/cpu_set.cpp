// SPDX-License-Identifier: Apache-2.0
#include "base/threads/cpu_set.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace tenon::inline base {
namespace {

constexpr int kMostCpus = 1 << 16;
constexpr size_t kWords = kMostCpus / 64;

Error refused_by_system() {
  return fail(Code::not_supported, "cpus", "this system does not let a thread choose its CPUs")
      .expected("sched_setaffinity")
      .found(std::strerror(errno))
      .advice("make the thread pool without naming CPUs");
}

/// Every CPU that the process may use, though the calling thread may be kept to some of them.
Result<CpuSet> of_process(const CpuSet& all) {
  const CpuSet before = TRY(CpuSet::of_thread());
  if (!all.bind_thread()) return refused_by_system();
  auto possible = CpuSet::of_thread();
  before.bind_thread();
  return possible;
}

}  // namespace

Result<CpuSet> CpuSet::of(std::span<const int> numbers) {
  CpuSet all, out;
  all.bits_.assign(kWords, ~uint64_t{0});
  out.bits_.assign(kWords, 0);
  const CpuSet possible = TRY(of_process(all));
  for (const int n : numbers) {
    if (!possible.contains(n))
      return fail(Code::bad_usage, "cpus", "this process may not use such a CPU")
          .expected("some of " + possible.text())
          .found(std::to_string(n))
          .advice("name CPUs that the machine has and that this process is not kept from");
    if (out.contains(n))
      return fail(Code::bad_usage, "cpus", "a CPU appears twice")
          .expected("each at most once")
          .found("CPU " + std::to_string(n) + " again");
    out.bits_[static_cast<size_t>(n) / 64] |= uint64_t{1} << n % 64;
  }
  return out;
}

Result<CpuSet> CpuSet::of_thread() {
  CpuSet out;
  if (!out.read_thread_affinity()) return refused_by_system();
  return out;
}

bool CpuSet::read_thread_affinity() {
  bits_.assign(kWords, 0);
  return sched_getaffinity(0, kWords * sizeof(uint64_t), reinterpret_cast<cpu_set_t*>(bits_.data())) == 0;
}

bool CpuSet::bind_thread() const {
  return sched_setaffinity(0, bits_.size() * sizeof(uint64_t), reinterpret_cast<const cpu_set_t*>(bits_.data())) == 0;
}

int CpuSet::count() const {
  int out = 0;
  for (const uint64_t word : bits_) out += std::popcount(word);
  return out;
}

bool CpuSet::contains(int number) const {
  const auto word = static_cast<size_t>(number) / 64;
  return number >= 0 && word < bits_.size() && (bits_[word] >> number % 64 & 1) != 0;
}

std::vector<int> CpuSet::numbers() const {
  std::vector<int> out;
  for (int n = 0; n < static_cast<int>(bits_.size() * 64); ++n)
    if (contains(n)) out.push_back(n);
  return out;
}

std::string CpuSet::text() const {
  std::string out;
  const std::vector<int> all = numbers();
  for (size_t k = 0; k < all.size();) {
    size_t end = k + 1;
    while (end < all.size() && all[end] == all[end - 1] + 1) ++end;
    if (!out.empty()) out += ", ";
    out += std::to_string(all[k]);
    if (end - k > 1) out += "-" + std::to_string(all[end - 1]);
    k = end;
  }
  return out.empty() ? "none" : out;
}

}  // namespace tenon::inline base
