// SPDX-License-Identifier: Apache-2.0
#include "passes/pass.h"

#include <chrono>
#include <ranges>

#include "ir/verify.h"

namespace tenon::passes {
namespace {

/// Whether no pass has changed the graph since this one ran last.
bool is_at_fixpoint(const Pass& pass, const Report& report) {
  for (const PassReport& p : report.passes | std::views::reverse) {
    if (p.name == pass.name) return true;
    if (p.changed) return false;
  }
  return false;
}

}  // namespace

Result<bool> run_pass(const Pass& pass, Graph& graph, Context& context, int index, int count) {
  const Options& options = context.options;
  if (pass.level > options.level || options.disabled.contains(pass.name)) return false;
  if (pass.again && is_at_fixpoint(pass, context.report)) return false;
  if (const auto& cancelled = options.rewriting.cancelled; cancelled && cancelled())
    return fail(Code::cancelled, std::string(pass.name), "the build was cancelled");
  if (options.progress) options.progress(pass.name, index, count);
  const auto start = std::chrono::steady_clock::now();
  PassReport report{pass.name, 0, static_cast<int64_t>(graph.node_count()), 0, false};
  auto changed = pass.run(graph, context);
  if (!changed) return std::unexpected(std::move(changed).error().at("pass " + std::string(pass.name)));
  report.changed = *changed;
  report.nodes_after = static_cast<int64_t>(graph.node_count());
  report.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  context.report.passes.push_back(report);
  if (*changed && options.dump) options.dump(pass.name, graph);
  if (options.verify)
    if (auto ok = ir::verify(graph); !ok) return std::unexpected(std::move(ok).error().at("after pass " + std::string(pass.name)));
  return changed;
}

}  // namespace tenon::passes
