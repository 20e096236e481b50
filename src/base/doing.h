// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <string_view>

namespace tenon::inline base {

/// Whose code this process runs beside our own: noted while it lives, for a process that watches this one and is to tell what ended it.
/// One at a time. Costs a load where nobody watches.
class Doing {
 public:
  /// Memory that the watching process shares; `text` ends with 0.
  struct Board {
    std::atomic<uint64_t> changes{0};
    char text[240] = {};
  };
  /// Notes are written there from now on; outlives the process.
  static void show_on(Board* board) { board_.store(board, std::memory_order_release); }

  /// "backend 'NAME' ACTION".
  Doing(std::string_view backend, std::string_view action) {
    if (Board* board = board_.load(std::memory_order_acquire)) note(*board, backend, action);
  }
  ~Doing() {
    if (Board* board = board_.load(std::memory_order_acquire)) note(*board, {}, {});
  }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

 private:
  static void note(Board& board, std::string_view backend, std::string_view action);
  static inline std::atomic<Board*> board_{nullptr};
};

}  // namespace tenon::inline base
