// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace tenon::inline base {

/// The external code that this process runs: recorded while the object lives, so that a watching process can report what ended this one.
/// One thread at a time; what is noted inside another counts until its end. Costs a load where nobody watches.
class Activity {
 public:
  /// Memory that the watching process shares; `text` ends with 0.
  struct Record {
    std::atomic<uint64_t> changes{0};
    char text[240] = {};
  };
  /// Notes are written there from now on; outlives the process.
  static void record_in(Record* record) { record_.store(record, std::memory_order_release); }

  /// "backend 'NAME' ACTION".
  Activity(std::string_view backend, std::string_view action) : Activity({"backend '", backend, "' ", action}) {}
  /// These texts, one after the other: who, and what was done.
  Activity(std::initializer_list<std::string_view> parts) {
    if (Record* record = record_.load(std::memory_order_acquire)) note(*record, parts);
  }
  ~Activity() {
    if (Record* record = record_.load(std::memory_order_acquire)) restore(*record);
  }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  void note(Record& record, std::initializer_list<std::string_view> parts);
  void restore(Record& record) const;
  static inline std::atomic<Record*> record_{nullptr};
  char before_[sizeof Record::text];  ///< what was noted before, where somebody watches
};

}  // namespace tenon::inline base
