// SPDX-License-Identifier: Apache-2.0
#include "files/text_assets.h"

#include <fmt/format.h>

#include "files/gguf.h"
#include "files/gguf_metadata.h"
#include "files/mapped_file.h"

namespace tenon::files {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;  // of one file
constexpr std::pair<TextAsset, const char*> kNames[] = {
    {TextAsset::tokenizer, "tokenizer.json"},
    {TextAsset::tokenizer_config, "tokenizer_config.json"},
    {TextAsset::generation_config, "generation_config.json"},
    {TextAsset::chat_template, "chat_template.jinja"},
    {TextAsset::genai_config, "genai_config.json"},
};

Result<std::string> read_whole_file(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  if (file->size() > kMaxFileBytes)
    return fail(Code::limit_exceeded, path.string(), "the file is too large to describe text")
        .expected(fmt::format("at most {} bytes", kMaxFileBytes))
        .found(fmt::format("{} bytes", file->size()));
  return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->size());
}

/// The folder with the tokenizer of an ONNX model: its own, or the one above a folder named onnx.
}  // namespace

bool is_onnx(const std::filesystem::path& file) { return file.extension() == ".onnx"; }

std::filesystem::path language_folder(const std::filesystem::path& checkpoint) {
  if (std::filesystem::is_directory(checkpoint)) return checkpoint;
  const std::filesystem::path own = checkpoint.has_parent_path() ? checkpoint.parent_path() : std::filesystem::path(".");
  const bool is_part = own.filename() == "onnx" && !std::filesystem::exists(own / "tokenizer.json");
  return is_part ? own / ".." : own;
}

Result<TextAssets> read_text_assets(const std::filesystem::path& checkpoint) {
  TextAssets out;
  if (!std::filesystem::is_directory(checkpoint) && !is_onnx(checkpoint)) {
    const Gguf file = TRY(read_gguf(checkpoint));
    if (file.find("tokenizer.ggml.model")) out[TextAsset::gguf_metadata] = metadata_file(file, {"general.architecture", "tokenizer."});
    return out;
  }
  const std::filesystem::path folder = language_folder(checkpoint);
  for (const auto& [part, name] : kNames)
    if (std::filesystem::exists(folder / name)) out[part] = TRY(read_whole_file(folder / name));
  return out;
}

}  // namespace tenon::files
