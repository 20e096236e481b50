// SPDX-License-Identifier: Apache-2.0
#include "plugin/embedded.h"

#include <fstream>
#include <iterator>
#include <protozero/pbf_writer.hpp>

#include "base/wire_reader.h"

namespace tenon::plugin {

namespace {

enum Tag : uint32_t { name = 1, contents = 2 };

}  // namespace

std::string encode_embedded(std::string_view name, std::string_view bytes) {
  std::string out;
  protozero::pbf_writer w(out);
  w.add_string(Tag::name, name.data(), name.size());
  w.add_bytes(Tag::contents, bytes.data(), bytes.size());
  return out;
}

Result<Embedded> decode_embedded(std::string_view encoded) {
  const auto damaged = [](std::string found) {
    return fail(Code::bad_file, "plugin libraries", "a library inside the engine does not decode")
        .expected("numbered fields: a name and bytes")
        .found(std::move(found))
        .advice("build the engine again");
  };
  Embedded out;
  try {
    WireReader r(encoded.data(), encoded.size());
    while (r.next()) {
      if (r.tag() == Tag::name) out.name = r.get_string();
      else if (r.tag() == Tag::contents) out.bytes = r.get_string();
      else r.skip();
    }
  } catch (const protozero::exception& e) { return damaged(e.what()); }
  if (out.name.empty() || out.bytes.empty()) return damaged(out.name.empty() ? "no name" : "no bytes");
  return out;
}

Result<std::shared_ptr<const Library>> open_embedded(std::string_view encoded, const Logger& logger) {
  const Embedded library = TRY(decode_embedded(encoded));
  if (auto open = open_library_of(sha256_of_text(library.bytes))) return open;
  return open_library(TRY(SealedMemory::of(library.name, library.bytes)), logger);
}

Result<std::vector<std::string>> embed(std::span<const std::string> sha256) {
  std::vector<std::string> out;
  for (const std::string& digest : sha256) {
    const auto library = open_library_of(digest);
    if (!library || (!library->is_file && library->sealed < 0))
      return fail(Code::bad_usage, "embed plugins", "a plugin that the model needs is of no file")
          .expected("libraries of plugins")
          .found(library ? library->file.string() : "functions of this process")
          .advice("leave the embedding away, or write it as a library");
    std::ifstream file(library->is_file ? library->file : SealedMemory::path_of(library->sealed), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (sha256_of_text(bytes) != digest)
      return fail(Code::bad_usage, library->file.string(), "the file changed since it was opened")
          .expected("SHA-256 " + digest)
          .found(sha256_of_text(bytes))
          .advice("build again");
    out.push_back(encode_embedded(library->file.filename().string(), bytes));
  }
  return out;
}

}  // namespace tenon::plugin
