// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/explanation.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "cli/bench/measure.h"
#include "cli/bench/traffic.h"

namespace tenon::cli {
namespace {

using Known = std::unordered_map<std::string, int64_t>;

void add_sizes(const ir::Type& type, const Sizes& shape, Known& out) {
  if (!type.has_rank()) return;
  for (size_t d = 0; d < type.shape->size(); ++d)
    if (const DimNode* n = (*type.shape)[d].node(); n && n->kind == DimNode::Kind::symbol) out.emplace(n->name, shape[d]);
}

/// Symbols that are an input's size, by name, and lengths of states, which are 0: runs begin at the initial values.
Known sizes_of(const ir::Graph& graph, std::span<const Tensor> inputs) {
  Known out;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Type& type = graph.value(id).type;
    if (graph.state_of_input(id)) {
      add_sizes(type, Sizes(type.shape->size()), out);
    } else if (!inputs.empty()) {
      add_sizes(type, inputs[0].shape(), out);
      inputs = inputs.subspan(1);
    }
  }
  return out;
}

/// The step's time as part of its row, which is made where it is the first.
struct Rows {
  std::vector<ExplainedKernel> list;
  std::unordered_map<std::string, size_t> places;

  ExplainedKernel& of(const ExplainedKernel& like) {
    const auto [place, fresh] = places.emplace(like.label + '\n' + like.tactic + '\n' + like.why + '\n' + like.limit, list.size());
    if (fresh) list.push_back(like);
    return list[place->second];
  }
};

}  // namespace

Result<std::vector<ExplainedKernel>> Explanation::kernels(const runtime::Engine& engine, std::span<const Tensor> inputs,
                                                          const Profile& profile, const codegen::Machine& machine, size_t entry) const {
  const runtime::Program& program = engine.program(entry);
  const std::vector<double> times = step_times(program, profile);
  const Known known = sizes_of(*graph_, inputs);
  const auto value_of = [&](const DimNode& symbol) {
    const auto found = known.find(symbol.name);
    return found == known.end() ? Dim::of(&symbol) : Dim(found->second);
  };
  std::vector<std::optional<codegen::Work>> works;
  for (const codegen::Work& w : plan_.work_of_step) works.push_back(codegen::with_sizes(w, value_of));
  const auto calls = TRY(calls_of_steps(program, inputs, works, machine));
  Rows rows;
  for (size_t s = 0; s < times.size(); ++s) {
    if (times[s] <= 0 || !runtime::is<runtime::KernelStep>(program.steps[s])) continue;
    const auto& work = works[s];
    if (!work) continue;
    const codegen::Prediction p = codegen::predict(*work, calls[s], target_, machine);
    const uint32_t kernel = runtime::as<runtime::KernelStep>(program.steps[s])->kernel;
    ExplainedKernel& row = rows.of({.label = program.steps[s].label,
                                    .tactic = kernel < tactics_.size() ? tactics_[kernel] : "",
                                    .why = codegen::tiling_text(*work, target_),
                                    .limit = std::string(codegen::name_of(p.limit))});
    ++row.calls;
    row.ms += times[s];
    row.predicted_ms += p.ns / 1e6;
    row.limit_ms += p.limit_ns / 1e6;
    row.errors.push_back(std::abs(p.ns / 1e6 - times[s]) / times[s]);
  }
  std::ranges::sort(rows.list, std::greater{}, &ExplainedKernel::ms);
  return std::move(rows.list);
}

double median_error(const std::vector<ExplainedKernel>& kernels) {
  std::vector<double> all;
  for (const ExplainedKernel& k : kernels) all.insert(all.end(), k.errors.begin(), k.errors.end());
  return all.empty() ? 0 : median(all);
}

}  // namespace tenon::cli
