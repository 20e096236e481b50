// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::inline base {

/// CPUs, by the numbers that the system gives them.
class CpuSet {
 public:
  CpuSet() = default;  ///< none
  /// Errors: bad_usage where a number appears twice or is none of a CPU that this process may use; not_supported.
  /// Cost: changes the affinity of the calling thread for some microseconds.
  static Result<CpuSet> of(std::span<const int> numbers);
  /// Those that the calling thread may run on. Errors: not_supported.
  static Result<CpuSet> of_thread();

  /// The same as of_thread(), without an allocation where this set has held one before. False: the system does not report it.
  bool read_thread_affinity();
  /// From now on the calling thread runs on these alone. False: on none of them, or the system does not allow it; nothing has changed.
  bool bind_thread() const;

  bool empty() const { return count() == 0; }
  int count() const;
  bool contains(int number) const;
  std::vector<int> numbers() const;  ///< ascending
  std::string text() const;          ///< "0-3, 8"
  friend bool operator==(const CpuSet& a, const CpuSet& b) = default;

 private:
  std::vector<uint64_t> bits_;  ///< CPU n is bit n % 64 of word n / 64; of a fixed length
};

}  // namespace tenon::inline base
