// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/handlers.h"

#include <llvm/Support/ErrorHandling.h>

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

[[noreturn]] void no_memory(void*, const char*, bool) { throw std::bad_alloc(); }

}  // namespace

Handlers::Handlers() {
  const std::lock_guard guard(users().mutex);
  if (users().count++ != 0) return;
  llvm::install_bad_alloc_error_handler(no_memory);
  llvm::install_fatal_error_handler(end_process);
}

Handlers::~Handlers() {
  const std::lock_guard guard(users().mutex);
  if (--users().count != 0) return;
  llvm::remove_bad_alloc_error_handler();
  llvm::remove_fatal_error_handler();
}

}  // namespace tenon::codegen::machine
