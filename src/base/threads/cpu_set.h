// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::inline base {

/// A set of CPUs, by the system's numbers.
class CpuSet {
 public:
  CpuSet() = default;  ///< none
  /// Errors: bad_usage where a number appears twice, or is not that of a CPU that this process may use; not_supported.
  /// Cost: changes the affinity of the calling thread for some microseconds.
  static Result<CpuSet> of(std::span<const int> numbers);
  /// The affinity mask of the calling thread: the CPUs that it may run on. Errors: not_supported.
  static Result<CpuSet> of_thread();

  /// Sets this to of_thread(), without an allocation where this set has held a mask before. False: the system does not report the mask.
  bool read_thread_affinity();
  /// Sets the affinity mask of the calling thread to this set. False, and nothing has changed: the set has no CPU, or the system refuses.
  bool bind_thread() const;

  bool empty() const { return count() == 0; }
  int count() const;
  bool contains(int number) const;
  std::vector<int> numbers() const;  ///< ascending
  std::string text() const;          ///< "0-3, 8"
  friend bool operator==(const CpuSet& a, const CpuSet& b) = default;

 private:
  std::vector<uint64_t> bits_;  ///< CPU n is bit n % 64 of word n / 64; the vector has a fixed length
};

}  // namespace tenon::inline base
