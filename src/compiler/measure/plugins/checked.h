// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/measure/plugins/candidates.h"

namespace tenon::compiler {

/// Of each candidate what is wrong with it; empty: it runs, and gives what the node's definition gives by reference. Where that would take
/// long, the first candidate that is Tenon's own code is the judge; where the node has no definition, the first candidate is. Engines are
/// run in options.measuring. Errors: those of Stopwatch::run; write_failed.
Result<std::vector<std::string>> faults_of(std::span<const Candidate> candidates, const ir::Graph& alone, const CompileOptions& options);

}  // namespace tenon::compiler
