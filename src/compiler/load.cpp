// SPDX-License-Identifier: Apache-2.0
#include "compiler/load.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "backends/reference/device/reference.h"
#include "compiler/compile.h"
#include "compiler/portable.h"
#include "engine/reader.h"
#include "files/mapped_file.h"
#include "runtime/load.h"

namespace tenon::compiler {

namespace {

/// The level that the engine was built with; 3 where the manifest does not say.
int level_of(std::span<const std::byte> manifest) {
  const auto json =
      nlohmann::json::parse(std::string_view(reinterpret_cast<const char*>(manifest.data()), manifest.size()), nullptr, false);
  if (!json.is_object() || !json.contains("opt") || !json["opt"].is_number_integer()) return 3;
  return std::clamp(json["opt"].get<int>(), 0, 3);
}

}  // namespace

Result<std::shared_ptr<runtime::Engine>> load(const std::filesystem::path& path, const LoadOptions& options) {
  const auto file = TRY(files::MappedFile::open(path));
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, path.string()));
  const bool has_code =
      std::ranges::any_of(reader.sections(), [](const engine::Section& s) { return s.type == engine::SectionType::code; });
  if (has_code || !reader.find(engine::SectionType::constants_index))
    return runtime::load_engine(path, {.verify = options.verify, .opaque = backends::reference::device(*options.ops)});
  TRY(reader.verify_all());
  CompileOptions compiling;
  compiling.threads = options.threads;
  compiling.opt = level_of(TRY(reader.require(engine::SectionType::manifest)));
  auto compiled = TRY(compile(TRY(read_graph(reader, *options.ops, path.string())), compiling));
  return load_compiled(std::move(compiled));
}

}  // namespace tenon::compiler
