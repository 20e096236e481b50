// SPDX-License-Identifier: Apache-2.0
#include "runtime/embedded_plugins.h"

#include "engine/reader.h"
#include "files/mapped_file.h"
#include "plugin/embedded.h"

namespace tenon::runtime {

Result<std::vector<std::shared_ptr<const plugin::Library>>> embedded_plugins(const std::filesystem::path& engine,
                                                                             const plugin::Logger& logger) {
  const auto file = TRY(files::MappedFile::open(engine));
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, engine.string()));
  std::vector<std::shared_ptr<const plugin::Library>> out;
  for (const engine::Section& section : reader.sections()) {
    if (section.type != engine::SectionType::plugin_library) continue;
    TRY(reader.verify(section));
    out.push_back(TRY(plugin::open_embedded({reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size()}, logger)));
  }
  if (out.empty())
    return fail(Code::bad_usage, engine.string(), "this engine has no libraries of plugins inside")
        .expected("an engine that was built with --embed-plugins")
        .found("none of them")
        .advice("name the libraries with --plugin");
  return out;
}

}  // namespace tenon::runtime
