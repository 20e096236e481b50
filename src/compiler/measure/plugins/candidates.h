// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/plugin/plugin.h"
#include "compiler/compile.h"

namespace tenon::compiler {

/// One implementation of a node: a tactic and formats of a plugin, or what Tenon runs without the plugin.
struct Candidate {
  std::string name;
  std::optional<backends::PluginVariant> variant;  ///< nullopt: Tenon's own code, or another backend
  std::function<Result<Compiled>()> build;         ///< compiles an engine of the node alone
};

/// All implementations of one node.
struct Candidates {
  std::vector<Candidate> all;  ///< the first is the one that is used without measuring
  std::string left_out;        ///< a note where there are more candidates than the limit; empty: there are none
};

/// The implementations of `node` of `graph`; `alone` is a graph of that node only, with static shapes. Errors: those of the plugin's
/// `create`, `configure`, `supports` and `tactics`; not_supported where the plugin does not support the node.
Result<Candidates> candidates_of(const ir::Graph& graph, ir::NodeId node, std::shared_ptr<const ir::Graph> alone,
                                 const backends::Plugin& plugin, const backend::Backends& backends, const CompileOptions& options);

}  // namespace tenon::compiler
