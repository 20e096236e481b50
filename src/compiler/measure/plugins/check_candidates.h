// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/measure/plugins/candidates.h"

namespace tenon::compiler {

/// Returns why each candidate is rejected; empty: it runs, and its results agree with the expected ones. These are the results of the
/// reference evaluator, or, where that takes long or the node has no definition, of the first candidate that is Tenon's own code, else of
/// the first candidate. The engines run in options.measuring->runner. Errors: those of EngineRunner::run; write_failed.
Result<std::vector<std::string>> rejections_of(std::span<const Candidate> candidates, const ir::Graph& alone,
                                               const CompileOptions& options);

}  // namespace tenon::compiler
