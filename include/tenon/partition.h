// SPDX-License-Identifier: Apache-2.0
/// Who runs what of a model, and why. Link `tenon::tenon`; `tenon::run` has none of it.
#pragma once
#include "tenon/graph.h"

namespace tenon::inline v1 {

/// The JSON of `tenon partition --json`: segments, nodes with their reasons, borders, lower_bound, proved, what_if, ...
/// `build`: segments are compiled too, which tells what backends hand back, and how much memory a run takes.
/// Errors: those of compile().
TENON_API Result<std::string> partition(const std::filesystem::path& model, const CompileOptions& options = {}, bool build = true);
TENON_API Result<std::string> partition(std::span<const std::byte> model, const CompileOptions& options = {}, bool build = true);
TENON_API Result<std::string> partition(const Graph& graph, const CompileOptions& options = {}, bool build = true);

}  // namespace tenon::inline v1
