// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan_record.h"
#include "engine/reader.h"

namespace tenon::compiler {

/// The data about one entry's compilation that an engine file stores for inspection.
struct EntryContents {
  std::string name;
  std::unique_ptr<ir::Graph> graph;  ///< as ir::parse_structure() reads it: large constants have no bytes
  std::optional<PlanRecord> plan;    ///< nullopt for portable and older engines
};

/// The data about an engine's compilation that its file stores for inspection.
struct EngineContents {
  std::vector<EntryContents> entries;             ///< in order; an older native engine has the graph of the first alone
  std::optional<runtime::ProgramTable> programs;  ///< nullopt for a portable engine, which also lacks the members below
  std::vector<std::string> tactics;               ///< of each kernel
  const codegen::Target* target = nullptr;        ///< of the code
};

/// Ops that `ops` lacks become unknown ops. The file may be damaged or hostile: everything is checked. Errors: those of engine::Reader;
/// bad_file for a missing or damaged section, bad_graph, wrong_target for code of a target that this version lacks. Cost: reads the file
/// but for weights and code.
Result<EngineContents> read_contents(const std::filesystem::path& path, const ir::OpTable& ops);

/// The tactic of each kernel as text; empty where the engine has no such section.
std::vector<std::string> tactics_of(const engine::Reader& reader);

}  // namespace tenon::compiler
