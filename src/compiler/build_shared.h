// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "compiler/compile.h"

namespace tenon::compiler {

/// How long each step of a build takes.
class StepClock {
 public:
  explicit StepClock(const CompileOptions& options) : options_(options) {}
  void begin(std::string name);
  std::vector<StepTime> end();

 private:
  void end_step();

  const CompileOptions& options_;
  std::string name_;
  std::chrono::steady_clock::time_point start_;
  std::vector<StepTime> times_;
};

/// A form of a model that stands beside it in the engine, and how it is compiled.
struct Beside {
  PartitionedGraph shared;
  CompileOptions options;
};

struct Others {
  std::optional<Beside> behind = std::nullopt;       ///< runtime::Program::behind
  std::optional<Beside> instead = std::nullopt;      ///< runtime::Program::instead
  std::optional<Beside> overridable = std::nullopt;  ///< runtime::Program::overridable
};

/// Plans and generates code for what is shared out; its graph is consumed. Where a backend fails to compile a segment, it is shared out
/// again. Errors: those of compile().
Result<Compiled> build_shared(PartitionedGraph shared, const CompileOptions& options, StepClock& clock, Others others = {});

}  // namespace tenon::compiler
