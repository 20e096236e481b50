// SPDX-License-Identifier: Apache-2.0
#include "base/activity.h"

#include <cstring>

namespace tenon::inline base {

void Activity::note(Board& board, std::initializer_list<std::string_view> parts) {
  std::memcpy(before_, board.text, sizeof before_);
  size_t used = 0;
  for (const std::string_view part : parts) used += part.copy(board.text + used, sizeof board.text - 1 - used);
  board.text[used] = 0;
  board.changes.fetch_add(1, std::memory_order_release);
}

void Activity::go_back(Board& board) const {
  std::memcpy(board.text, before_, sizeof before_);
  board.changes.fetch_add(1, std::memory_order_release);
}

}  // namespace tenon::inline base
