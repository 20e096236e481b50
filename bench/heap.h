// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tenon::bench {

/// What went through operator new and delete while `counting` was set, in bytes of whole blocks.
struct Heap {
  bool counting = false;
  int64_t live = 0, peak = 0, calls = 0;
};
/// The one of this program.
Heap& heap();

}  // namespace tenon::bench
