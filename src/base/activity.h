// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace tenon::inline base {

/// Records, in its scope, which external code this process calls, so that a monitoring process can report what crashed it. Only one thread
/// at a time; an inner scope replaces the outer record until it ends. Cost where no record is set: one load.
class Activity {
 public:
  /// Memory shared with the monitoring process; `text` is null-terminated.
  struct Record {
    std::atomic<uint64_t> changes{0};
    char text[240] = {};
  };
  /// Sets the record that activities are written to; it stays valid until the process ends.
  static void record_in(Record* record) { record_.store(record, std::memory_order_release); }

  /// "backend 'NAME' ACTION".
  Activity(std::string_view backend, std::string_view action) : Activity({"backend '", backend, "' ", action}) {}
  /// The concatenation of `parts`: the owner of the code, and the action.
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
  char before_[sizeof Record::text];  ///< the text of the outer activity, where a record is set
};

}  // namespace tenon::inline base
