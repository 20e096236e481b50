// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/plugin_kit/checks/checks.h"

namespace tenon::cli {

namespace {

bool always(const plugin::Op&) { return true; }
bool runs(const plugin::Op& op) { return op.runs(); }
bool is_judged(const plugin::Op& op) { return op.runs() && (op.has_definition() || op.table.kernel_of) && !op.table.is_random; }
bool has_queries(const plugin::Op& op) {
  return op.table.infer || op.table.supports || op.table.workspace || op.table.save || op.table.tactics;
}
bool is_in_place(const plugin::Op& op) {
  return op.runs() && std::ranges::any_of(op.results, [](const tenon_port& p) { return p.in_place > 0; });
}

constexpr Check kChecks[] = {
    {"runs", "takes its samples, and comes back: no crash, no exit, no exception, no loop for ever", always, check_runs},
    {"pure", "equal calls have equal results, whatever is called in between", has_queries, check_pure},
    {"inference", "types as the definition has them, and the same for symbols as for numbers",
     [](const plugin::Op& op) { return !op.table.kernel_of; }, check_inference},
    {"definition", "enqueue gives what the definition, or the op that it is a kernel of, gives, within the bounds of the dtype", is_judged,
     check_definition},
    {"formats", "so does each choice of layouts that it takes",
     [](const plugin::Op& op) { return op.runs() && op.table.supports && !op.table.is_random; }, check_formats},
    {"tactics", "so does each tactic", [](const plugin::Op& op) { return op.runs() && op.table.tactics; }, check_tactics},
    {"canaries", "nothing is written outside of results and workspace, and operands keep their values", runs, check_canaries},
    {"written", "every byte of every result is written", runs, check_written},
    {"addresses", "another run, on memory elsewhere, is like the first: no pointer is kept", runs, check_addresses},
    {"in place", "results may take the memory of operands where the op declares it", is_in_place, check_in_place},
    {"workspace", "that of larger shapes will do for smaller ones, and what it holds before does not matter",
     [](const plugin::Op& op) { return op.runs() && op.table.workspace; }, check_workspace},
    {"attach", "an attached object gives what its maker gives", [](const plugin::Op& op) { return op.runs() && op.table.attach; },
     check_attach},
    {"save", "an object made of what was saved gives what the first one gives", runs, check_save},
    {"contexts", "contexts that run at once, and pieces of parallel_for in any order, change nothing", runs, check_contexts},
    {"host", "a call of the host that fails is an error, and the next run is right", runs, check_host},
    {"fields", "values that it declares are taken, others are refused", [](const plugin::Op& op) { return !op.fields.empty(); },
     check_fields},
    {"lets go", "what objects hold is free when they are destroyed", [](const plugin::Op& op) { return op.table.create != nullptr; },
     check_lets_go},
};

}  // namespace

std::span<const Check> all_checks() { return kChecks; }

}  // namespace tenon::cli
