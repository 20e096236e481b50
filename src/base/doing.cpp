// SPDX-License-Identifier: Apache-2.0
#include "base/doing.h"

namespace tenon::inline base {

void Doing::note(Board& board, std::string_view backend, std::string_view action) {
  size_t used = 0;
  const auto add = [&](std::string_view part) { used += part.copy(board.text + used, sizeof board.text - 1 - used); };
  if (!backend.empty()) {
    add("backend '");
    add(backend);
    add("' ");
    add(action);
  }
  board.text[used] = 0;
  board.changes.fetch_add(1, std::memory_order_release);
}

}  // namespace tenon::inline base
