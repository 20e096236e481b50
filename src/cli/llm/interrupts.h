// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csignal>

#include "runtime/run_options.h"

namespace tenon::cli {

/// In its scope, Ctrl-C (SIGINT) sets the token and interrupts calls that wait for input, instead of ending the program. Only one may
/// exist.
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
