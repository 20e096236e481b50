// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/engine.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// Options for several runs of one context, and for files of its states: --steps, --load-state, --save-state.
struct StateOptions {
  std::optional<int64_t> steps;  ///< none: one run, whose files have no dimension of steps
  std::string load, save;

  void add_to(CLI::App& app);
  int64_t count() const { return steps.value_or(1); }
  /// Errors: bad_usage where a file of states is named and the engine has none.
  Result<void> check(const runtime::Engine& engine) const;
  /// Sets the states for the first step: from the file, else the initial values. Errors: file_missing; those of
  /// Context::restore_states.
  Result<void> begin(runtime::Context& context) const;
  /// Writes the states, where a file is named. Errors: write_failed; those of Context::save_states.
  Result<void> end(const runtime::Context& context) const;
};

/// The error of a step (from 0), with the number of the step at its place.
Error at_step(Error error, int64_t step, int64_t steps);

}  // namespace tenon::cli
