// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/handlers.h"

#include <llvm/Support/ErrorHandling.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/result.h"

namespace tenon::codegen::machine {
namespace {

struct Users {
  std::mutex mutex;
  int count = 0;
};

Users& users() {
  static Users all;
  return all;
}

[[noreturn]] void end_process(void*, const char* reason, bool) {
  const Error error = fail(Code::internal, "code generation", "LLVM cannot go on").found(reason);
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::abort();
}

thread_local std::jmp_buf* escape_of_thread = nullptr;

[[noreturn]] void no_memory(void*, const char*, bool) {
  if (escape_of_thread) std::longjmp(*escape_of_thread, 1);
  throw std::bad_alloc();
}

std::atomic<std::new_handler> previous_handler = nullptr;  ///< installed before ErrorHandlers

/// The handler that operator new calls where there is no memory, also in LLVM's code.
void no_memory_for_new() {
  if (escape_of_thread) std::longjmp(*escape_of_thread, 1);
  const std::new_handler other = previous_handler;
  if (!other) throw std::bad_alloc();
  other();
}

}  // namespace

ErrorHandlers::ErrorHandlers() {
  const std::lock_guard guard(users().mutex);
  if (users().count++ != 0) return;
  previous_handler = std::set_new_handler(no_memory_for_new);
  llvm::install_bad_alloc_error_handler(no_memory);
  llvm::install_fatal_error_handler(end_process);
}

ErrorHandlers::~ErrorHandlers() {
  const std::lock_guard guard(users().mutex);
  if (--users().count != 0) return;
  if (std::get_new_handler() == no_memory_for_new) std::set_new_handler(previous_handler);
  llvm::remove_bad_alloc_error_handler();
  llvm::remove_fatal_error_handler();
}

MemoryEscape::MemoryEscape(std::jmp_buf& escape) { escape_of_thread = &escape; }
MemoryEscape::~MemoryEscape() { escape_of_thread = nullptr; }

}  // namespace tenon::codegen::machine
