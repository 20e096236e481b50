// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace tenon::codegen::machine
