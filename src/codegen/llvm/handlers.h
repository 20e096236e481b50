// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csetjmp>

namespace tenon::codegen::machine {

/// While an object lives, errors of LLVM are handled here. A fatal error (an instruction that it cannot select, a broken invariant) is a
/// bug of Tenon and ends the process like a failed assertion: LLVM's code has no clean-up for exceptions, and its locks would stay locked.
/// Lack of memory throws std::bad_alloc, as operator new does in the same code and as LLVM allows.
class ErrorHandlers {
 public:
  ErrorHandlers();
  ~ErrorHandlers();
  ErrorHandlers(const ErrorHandlers&) = delete;
  ErrorHandlers& operator=(const ErrorHandlers&) = delete;
};

/// While an object lives, its thread jumps to `escape` where LLVM lacks memory. The library has functions without unwind tables
/// (SelectionDAGISel::LowerArguments, in 22.1), through which an exception would end the process. What LLVM made so far is left as it is,
/// as after an exception.
class MemoryEscape {
 public:
  explicit MemoryEscape(std::jmp_buf& escape);
  ~MemoryEscape();
  MemoryEscape(const MemoryEscape&) = delete;
  MemoryEscape& operator=(const MemoryEscape&) = delete;
};

}  // namespace tenon::codegen::machine
