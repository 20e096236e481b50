// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/plugin_kit/checks/checks.h"

namespace tenon::cli {

namespace {

bool always(const plugin::Op&) { return true; }
bool runs(const plugin::Op& op) { return op.runs(); }
bool has_oracle(const plugin::Op& op) { return op.runs() && (op.has_definition() || op.table.kernel_of) && !op.table.is_random; }
bool has_queries(const plugin::Op& op) {
  return op.table.infer || op.table.supports || op.table.workspace || op.table.save || op.table.tactics;
}
bool is_in_place(const plugin::Op& op) {
  return op.runs() && std::ranges::any_of(op.results, [](const tenon_port& p) { return p.in_place > 0; });
}

constexpr Check kChecks[] = {
    {"runs", "runs its samples: no crash, no exit, no exception, no endless loop", always, check_runs},
    {"pure", "a function that is called again with the same arguments returns the same, whatever was called in between", has_queries,
     check_pure},
    {"inference", "inferred types equal those of the definition, and symbolic sizes give the same types as numbers",
     [](const plugin::Op& op) { return !op.table.kernel_of; }, check_inference},
    {"definition", "results equal those of the definition, or of the op that it is a kernel of, within the tolerance of the dtype",
     has_oracle, check_definition},
    {"formats", "each combination of layouts that `supports` accepts gives the results of the definition",
     [](const plugin::Op& op) { return op.runs() && op.table.supports && !op.table.is_random; }, check_formats},
    {"tactics", "each tactic gives the results of the definition", [](const plugin::Op& op) { return op.runs() && op.table.tactics; },
     check_tactics},
    {"canaries", "runs write only to results and workspace", runs, check_canaries},
    {"written", "every byte of every result is written", runs, check_written},
    {"addresses", "a run on other memory gives the same results: no pointer is kept from the run before", runs, check_addresses},
    {"in place", "results are right where they share the memory of the operand that the op declares for them", is_in_place, check_in_place},
    {"workspace", "the workspace of larger shapes suffices for smaller ones, and its initial contents do not matter",
     [](const plugin::Op& op) { return op.runs() && op.table.workspace; }, check_workspace},
    {"attach", "an object that `attach` makes gives the same results as the object that it was made from",
     [](const plugin::Op& op) { return op.runs() && op.table.attach; }, check_attach},
    {"save", "an object made from saved fields gives the same results as the one that saved them", runs, check_save},
    {"contexts", "results do not change where contexts run concurrently, or the pieces of parallel_for run in another order", runs,
     check_contexts},
    {"host", "where a host function fails, the run fails with an error, and the next run is right", runs, check_host},
    {"fields", "declared field values are accepted, others are refused", [](const plugin::Op& op) { return !op.fields.empty(); },
     check_fields},
    {"leaks", "`destroy` frees all memory and resources of an object", [](const plugin::Op& op) { return op.table.create != nullptr; },
     check_leaks},
};

}  // namespace

std::span<const Check> all_checks() { return kChecks; }

}  // namespace tenon::cli
