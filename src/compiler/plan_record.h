// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codegen/cost/work.h"
#include "compiler/compile.h"

namespace tenon::compiler {

/// Numbers of the plan's groups that compute a node; a node that was inlined into its readers has several.
using GroupsOfNodes = std::unordered_map<ir::NodeId, std::vector<size_t>>;

/// The parts of an entry's plan that HTML pages and `bench --explain` show. Stored in engines; runs do not read it (docs/why/034).
struct PlanRecord {
  std::vector<std::string> groups;  ///< the kind of each group: "loops", "contraction", ...
  GroupsOfNodes groups_of_nodes;
  std::vector<uint32_t> group_of_step;      ///< for each step of the entry's program the number of its group
  std::vector<codegen::Work> work_of_step;  ///< for each step the work of its kernel; empty where it has none
};

/// The graph of an entry, as it was compiled.
const ir::Graph& graph_of(const Compiled& compiled, size_t entry);
/// The record of an entry's plan.
PlanRecord plan_record(const Compiled& compiled, size_t entry = 0);

/// Encodes a record as numbered fields; a number is never reused for another field. Nodes are those of `graph`, in its order.
std::string encode(const PlanRecord& record, const ir::Graph& graph);
/// Encodes the records of all entries: the first one's, with those of the others as further fields.
std::string encode_plan_records(const Compiled& compiled);
/// Decodes a record. graph: the one that was compiled, or its text parsed by parse_structure(); sizes in the record refer to its symbols.
/// Every group, size and tile of the result is valid for codegen::predict. Errors: bad_file.
Result<PlanRecord> decode_plan_record(std::string_view bytes, ir::Graph& graph, const codegen::Target& target);
/// The same of all entries, whose graphs are given in their order; of the first alone where the engine was built before the others had
/// records. Errors: bad_file, also for more records than graphs.
Result<std::vector<PlanRecord>> decode_plan_records(std::string_view bytes, std::span<ir::Graph* const> graphs,
                                                    const codegen::Target& target);

}  // namespace tenon::compiler
