// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/options/model_options.h"
#include "passes/pipeline.h"

namespace tenon::cli {

/// The options of every verb that rewrites a model: MODEL and how to read it, --rules, --numerics, --order, --only, --keep, --isolate.
struct RewriteOptions {
  ModelOptions model;
  std::vector<std::string> rules, keep;
  std::string numerics = "reassociating", order = "worklist";
  bool only = false, isolate = false;

  void add_to(CLI::App& app);
  /// Errors: those of choose_rules.
  Result<passes::Options> passes_options() const;
  /// Errors: bad_usage where --keep names nothing of the model.
  Result<void> check_keep(const ir::Graph& graph) const;
  /// The rules as they were given: "default", "onnxruntime mine.rules".
  std::string rules_text() const;
};

}  // namespace tenon::cli
