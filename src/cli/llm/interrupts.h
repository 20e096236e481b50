// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csignal>

#include "runtime/run_options.h"

namespace tenon::cli {

/// While it lives, Ctrl-C (SIGINT) sets the token, and ends calls that wait for input, in place of the program. One at a time.
class Interrupts {
 public:
  explicit Interrupts(runtime::StopToken& token);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace tenon::cli
