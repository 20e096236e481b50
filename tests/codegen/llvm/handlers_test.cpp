// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>

#include "codegen/llvm/handlers.h"

namespace llvm {
[[noreturn]] void report_fatal_error(const char* reason, bool crash_diagnostics);  // LLVM/Support/ErrorHandling.h
}

namespace tenon::codegen::machine {
namespace {

TEST(LlvmDeathTest, AFatalErrorOfLlvmEndsTheProcessWithOurText) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const ErrorHandlers outer;
        { const ErrorHandlers inner; }  // of a second compilation that ends first
        try {
          llvm::report_fatal_error("no such instruction", true);
        } catch (...) {}
      },
      testing::KilledBySignal(SIGABRT), "error\\[TN700\\] at code generation: LLVM cannot go on\n *found: *no such instruction");
}

}  // namespace
}  // namespace tenon::codegen::machine
