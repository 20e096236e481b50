// SPDX-License-Identifier: Apache-2.0
// The C interface of run options, thread pools and stop tokens.
#include "api/c/context.h"

namespace tenon::inline v1 {

namespace {

/// The end of time for those that are as long as that.
std::chrono::steady_clock::time_point deadline_after(std::chrono::nanoseconds timeout) {
  using Time = std::chrono::steady_clock::time_point;
  const Time now = std::chrono::steady_clock::now();
  return timeout < Time::max() - now ? now + timeout : Time::max();
}

}  // namespace

base::Result<RunOptions> run_options_of(const tenon_context& context, const tenon_run_options* given) {
  const tenon_run_options o = TRY(read_struct(given, "options"));
  TRY(check_not_negative(o.timeout_ns, "options: timeout_ns"));
  RunOptions out;
  out.threads = o.threads != 0 ? o.threads : context.threads;
  out.check_memory = o.check_memory != 0;
  if (o.timeout_ns > 0) out.deadline = deadline_after(std::chrono::nanoseconds(o.timeout_ns));
  if (o.stop != nullptr) out.stop = &o.stop->token;
  if (o.has_seed != 0) out.seed = o.seed;
  out.thread_pool = context.pool;
  return out;
}

}  // namespace tenon::inline v1

// Functions of C are in no namespace.
using namespace tenon::v1;
namespace base = tenon::base;

extern "C" {

int32_t tenon_thread_pool_create(int32_t threads, const int32_t* cpus, size_t cpu_count, tenon_thread_pool** pool, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(pool, "pool"));
    if (cpu_count > 0) TRY(check_not_null(cpus, "cpus"));
    ThreadPoolOptions options{.cpus = {cpus, cpus + cpu_count}};
    if (threads != 0) options.threads = threads;
    ThreadPool made = TRY(inner(ThreadPool::create(options)));
    *pool = new tenon_thread_pool{std::move(made)};
    return {};
  });
}

void tenon_thread_pool_free(tenon_thread_pool* pool) { delete pool; }

int32_t tenon_stop_token_create(tenon_stop_token** token, tenon_error** error) {
  return call(error, [&]() -> base::Result<void> {
    TRY(check_not_null(token, "token"));
    *token = new tenon_stop_token();
    return {};
  });
}

void tenon_stop_token_stop(tenon_stop_token* token) {
  if (token != nullptr) token->token.stop();
}

void tenon_stop_token_reset(tenon_stop_token* token) {
  if (token != nullptr) token->token.reset();
}

void tenon_stop_token_free(tenon_stop_token* token) { delete token; }

}  // extern "C"
