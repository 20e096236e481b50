// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/threads/thread_pool.h"

namespace tenon::plugin {

/// Transposes `batch` matrices of `rows` x `columns` elements. `from` and `to` do not overlap. bytes: of an element; 1, 2, 4,
/// 8 or 16. thread pool: null for the calling thread alone.
void transpose(const void* from, void* to, int64_t batch, int64_t rows, int64_t columns, int bytes, ThreadPool* thread_pool, int threads);

}  // namespace tenon::plugin
