// SPDX-License-Identifier: Apache-2.0
#include "base/activity.h"

#include <cstring>

namespace tenon::inline base {

void Activity::note(Record& record, std::initializer_list<std::string_view> parts) {
  std::memcpy(before_, record.text, sizeof before_);
  size_t used = 0;
  for (const std::string_view part : parts) used += part.copy(record.text + used, sizeof record.text - 1 - used);
  record.text[used] = 0;
  record.changes.fetch_add(1, std::memory_order_release);
}

void Activity::restore(Record& record) const {
  std::memcpy(record.text, before_, sizeof before_);
  record.changes.fetch_add(1, std::memory_order_release);
}

}  // namespace tenon::inline base
