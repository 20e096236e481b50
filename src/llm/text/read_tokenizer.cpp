// SPDX-License-Identifier: Apache-2.0
#include "llm/text/read_tokenizer.h"

#include <fmt/format.h>

#include <memory>

#include "files/gguf.h"
#include "files/mapped_file.h"
#include "llm/text/gguf_tokenizer.h"
#include "llm/text/json_tokenizer.h"

namespace tenon::llm {
namespace {

constexpr size_t kMostJson = size_t{256} << 20;

using Mapped = std::shared_ptr<const files::MappedFile>;

Result<Mapped> open_json(const std::filesystem::path& path) {
  Mapped file = TRY(files::MappedFile::open(path));
  if (file->size() > kMostJson)
    return fail(Code::limit_exceeded, path.string(), "a JSON file is too large")
        .expected(fmt::format("at most {} bytes", kMostJson))
        .found(fmt::format("{}", file->size()));
  return file;
}

/// A null pointer where there is no such file.
Result<Mapped> open_optional(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Mapped();
  return open_json(path);
}

std::string_view text_of(const Mapped& file) {
  return file ? std::string_view(reinterpret_cast<const char*>(file->bytes().data()), file->size()) : std::string_view();
}

}  // namespace

Result<Tokenizer> read_tokenizer(const std::filesystem::path& path) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  if (!folder && files::is_gguf(path)) return gguf_tokenizer(TRY(files::read_gguf(path)), path.string());
  const auto json = folder ? path / "tokenizer.json" : path;
  const Mapped tokenizer = TRY(open_json(json)), config = TRY(open_optional(json.parent_path() / "tokenizer_config.json")),
               generation = TRY(open_optional(json.parent_path() / "generation_config.json"));
  return json_tokenizer({text_of(tokenizer), text_of(config), text_of(generation)}, json.string());
}

}  // namespace tenon::llm
