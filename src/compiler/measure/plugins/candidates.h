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

/// One way to run a node: by a plugin, or by whoever would run it if there were none.
struct Candidate {
  std::string name;
  std::optional<backends::PluginWay> way;   ///< none: Tenon's own code, or another backend
  std::function<Result<Compiled>()> build;  ///< an engine of the node alone
};

struct Candidates {
  std::vector<Candidate> all;  ///< the first is what a build takes that does not measure
  std::string left_out;        ///< what there are too many of; empty: nothing
};

/// The ways to run `node` of `graph`, of which `alone` is a copy by itself, with sizes. Errors: those of the plugin's `create`,
/// `configure`, `supports` and `tactics`; not_supported where it does not take the node.
Result<Candidates> candidates_of(const ir::Graph& graph, ir::NodeId node, std::shared_ptr<const ir::Graph> alone,
                                 const backends::Plugin& plugin, const backend::Backends& backends, const CompileOptions& options);

}  // namespace tenon::compiler
