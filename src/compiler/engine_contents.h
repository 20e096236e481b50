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

/// What an engine file holds of how an entry was compiled.
struct EntryContents {
  std::string name;
  std::unique_ptr<ir::Graph> graph;  ///< as ir::parse_structure() reads it: large constants have no bytes
  std::optional<PlanRecord> plan;    ///< none of portable and of older engines
};

/// What an engine file holds of how it was compiled.
struct EngineContents {
  std::vector<EntryContents> entries;             ///< in order; an older native engine has the graph of the first alone
  std::optional<runtime::ProgramTable> programs;  ///< none, like the two below, of a portable engine
  std::vector<std::string> tactics;               ///< of each kernel
  const codegen::Target* target = nullptr;        ///< of the code
};

/// Ops that `ops` lacks become unknown ops. Nothing in the file is trusted. Errors: those of engine::Reader; bad_file for a missing or
/// damaged section, bad_graph, wrong_target for code of a target that this version lacks. Cost: reads the file but for weights and code.
Result<EngineContents> read_contents(const std::filesystem::path& path, const ir::OpTable& ops);

/// How each kernel is cut, as text; empty where the engine has no such section.
std::vector<std::string> tactics_of(const engine::Reader& reader);

}  // namespace tenon::compiler
