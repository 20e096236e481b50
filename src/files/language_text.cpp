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
    {TextPart::genai_config, "genai_config.json"},
};

Result<std::string> whole_file(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  if (file->size() > kMostBytes)
    return fail(Code::limit_exceeded, path.string(), "the file is too large to describe text")
        .expected(fmt::format("at most {} bytes", kMostBytes))
        .found(fmt::format("{} bytes", file->size()));
  return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->size());
}

std::filesystem::path folder_of_text(const std::filesystem::path& model) {
  const std::filesystem::path own = model.has_parent_path() ? model.parent_path() : std::filesystem::path(".");
  const bool is_part = own.filename() == "onnx" && !std::filesystem::exists(own / "tokenizer.json");
  return is_part ? own / ".." : own;
}

}  // namespace

bool is_onnx(const std::filesystem::path& file) { return file.extension() == ".onnx"; }

Result<LanguageText> read_language_text(const std::filesystem::path& checkpoint) {
  LanguageText out;
  const bool is_folder = std::filesystem::is_directory(checkpoint), is_model = !is_folder && is_onnx(checkpoint);
  if (!is_folder && !is_model) {
    const Gguf file = TRY(read_gguf(checkpoint));
    if (file.find("tokenizer.ggml.model")) out[TextPart::gguf_metadata] = metadata_file(file, {"general.architecture", "tokenizer."});
    return out;
  }
  const std::filesystem::path folder = is_model ? folder_of_text(checkpoint) : checkpoint;
  for (const auto& [part, name] : kNames)
    if (std::filesystem::exists(folder / name)) out[part] = TRY(whole_file(folder / name));
  return out;
}

}  // namespace tenon::files
