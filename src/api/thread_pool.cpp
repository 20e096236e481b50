// SPDX-License-Identifier: Apache-2.0
#include "base/threads/thread_pool.h"

#include "api/state.h"

namespace tenon::inline v1 {

namespace {

const base::ThreadPool& inner(const std::shared_ptr<void>& state) {
  return state ? *static_cast<const base::ThreadPool*>(state.get()) : base::default_thread_pool();
}

}  // namespace

Result<ThreadPool> ThreadPool::create(const ThreadPoolOptions& options) {
  return guarded([&]() -> Result<ThreadPool> {
    auto made = base::ThreadPool::create(options.threads, options.cpus);
    if (!made) return std::unexpected(public_error(made.error()));
    ThreadPool out;
    out.state_ = std::move(*made);
    return out;
  });
}

int ThreadPool::threads() const { return inner(state_).size(); }

std::vector<int> ThreadPool::cpus() const { return inner(state_).cpus().numbers(); }

}  // namespace tenon::inline v1
