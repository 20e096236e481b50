// SPDX-License-Identifier: Apache-2.0
#include "files/language_text.h"

#include <fmt/format.h>

#include "files/gguf.h"
#include "files/gguf_metadata.h"
#include "files/mapped_file.h"

namespace tenon::files {
namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // of one file
constexpr std::pair<TextPart, const char*> kNames[] = {
    {TextPart::tokenizer, "tokenizer.json"},
    {TextPart::tokenizer_config, "tokenizer_config.json"},
    {TextPart::generation_config, "generation_config.json"},
    {TextPart::chat_template, "chat_template.jinja"},
};

Result<std::string> whole_file(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  if (file->size() > kMostBytes)
    return fail(Code::limit_exceeded, path.string(), "the file is too large to describe text")
        .expected(fmt::format("at most {} bytes", kMostBytes))
        .found(fmt::format("{} bytes", file->size()));
  return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->size());
}

}  // namespace

Result<LanguageText> read_language_text(const std::filesystem::path& checkpoint) {
  LanguageText out;
  if (!std::filesystem::is_directory(checkpoint)) {
    const Gguf file = TRY(read_gguf(checkpoint));
    if (file.find("tokenizer.ggml.model")) out[TextPart::gguf_metadata] = metadata_file(file, {"general.architecture", "tokenizer."});
    return out;
  }
  for (const auto& [part, name] : kNames)
    if (std::filesystem::exists(checkpoint / name)) out[part] = TRY(whole_file(checkpoint / name));
  return out;
}

}  // namespace tenon::files
