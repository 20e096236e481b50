// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/interrupts.h"

namespace tenon::cli {
namespace {

std::atomic<runtime::StopToken*> current{nullptr};
static_assert(std::atomic<runtime::StopToken*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void stop(int) {
  if (runtime::StopToken* const token = current.load(std::memory_order_relaxed)) token->stop.store(true, std::memory_order_relaxed);
}

}  // namespace

Interrupts::Interrupts(runtime::StopToken& token) {
  current = &token;
  struct sigaction action = {};
  action.sa_handler = stop;  // without SA_RESTART: a call that reads ends with EINTR
  sigaction(SIGINT, &action, &before_);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &before_, nullptr);
  current = nullptr;
}

}  // namespace tenon::cli
