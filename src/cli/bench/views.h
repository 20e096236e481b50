// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/bench/explanation.h"
#include "cli/inspect/graph_page.h"
#include "cli/options/engine_options.h"

namespace tenon::cli {

/// Data of the compiled graph for the options --html and --explain of `bench`.
struct Views {
  std::optional<GraphPage> page;           ///< --html
  std::optional<Explanation> explanation;  ///< --explain
};

/// Which views to make.
struct ViewOptions {
  bool page = false, explanation = false;
  std::string entry = {};  ///< the entry that the views show; empty: the first
  bool any() const { return page || explanation; }
};

/// Loads the engine, or compiles the model, and fills the views that are wanted. Errors: those of EngineOptions::engine; not_supported for
/// an engine that has no record of the plan of that entry, or in which definitions run in place of plugins; bad_file for a damaged record.
Result<std::shared_ptr<runtime::Engine>> engine_with_views(const EngineOptions& options, const ViewOptions& wanted, Views& views,
                                                           Console& console);

/// Checks that the inputs run the program that the views show. Errors: not_supported where they run another (a fallback).
Result<void> check_inputs_of_views(const runtime::Engine& engine, std::span<const Tensor> inputs, size_t entry);

}  // namespace tenon::cli
