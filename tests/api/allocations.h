// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

namespace tenon::tests {

/// How often this process has called operator new.
extern std::atomic<long> allocations;

}  // namespace tenon::tests
