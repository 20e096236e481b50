// SPDX-License-Identifier: Apache-2.0
/// Who runs what of a model, and why. Link `tenon::tenon`; `tenon::run` has none of it.
#pragma once
#include "tenon/graph.h"

namespace tenon::inline v1 {

/// Options whose input ranges are in the order of the model's inputs.
struct CompileSpec : CompileOptions {
  explicit CompileSpec(std::vector<InputRange> ranges_of_inputs = {}) : inputs(std::move(ranges_of_inputs)) {}
  std::vector<InputRange> inputs;
};

/// Errors: those of compile(); bad_usage for more ranges than inputs. Cost: the model is read twice.
TENON_API Result<Engine> compile(const std::filesystem::path& model, const CompileSpec& spec);
TENON_API Result<std::string> partition(const std::filesystem::path& model, const CompileSpec& spec, bool build = true);

/// The JSON of `tenon partition --json`: segments, nodes with their reasons, borders, lower_bound, proved, what_if, ...
/// `build`: segments are compiled too, which shows what backends hand back, and how much memory a run takes.
/// Errors: those of compile().
TENON_API Result<std::string> partition(const std::filesystem::path& model, const CompileOptions& options = {}, bool build = true);
TENON_API Result<std::string> partition(std::span<const std::byte> model, const CompileOptions& options = {}, bool build = true);
TENON_API Result<std::string> partition(const Graph& graph, const CompileOptions& options = {}, bool build = true);

}  // namespace tenon::inline v1
