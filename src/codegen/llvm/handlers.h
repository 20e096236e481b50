// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csetjmp>

namespace tenon::codegen::machine {

/// While one lives, LLVM fails in our way. A fatal error of its own (an instruction that it cannot select, a broken invariant) is a bug of
/// ours: the process ends as by a failed assertion, with our text; LLVM's code has no clean-up for exceptions, its locks would stay
/// closed. No memory is std::bad_alloc, which is what operator new throws through the same code, and what LLVM allows that handler.
class Handlers {
 public:
  Handlers();
  ~Handlers();
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;
};

/// While one lives, its thread goes to `escape` where LLVM has no memory. The library has functions without unwind tables
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
