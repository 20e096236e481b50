// SPDX-License-Identifier: Apache-2.0
#include "llm/text/read_tokenizer.h"

#include <span>

#include "files/gguf.h"
#include "files/mapped_file.h"
#include "llm/text/gguf_tokenizer.h"
#include "llm/text/json_tokenizer.h"

namespace tenon::llm {

Result<Tokenizer> tokenizer_of(const files::TextAssets& text, std::string_view place) {
  const auto part = [&](files::TextAsset which) {
    const auto found = text.find(which);
    return found == text.end() ? std::string_view() : std::string_view(found->second);
  };
  if (const std::string_view json = part(files::TextAsset::tokenizer); !json.empty())
    return json_tokenizer(
        {json, part(files::TextAsset::tokenizer_config), part(files::TextAsset::generation_config), part(files::TextAsset::genai_config)},
        place);
  const std::string_view metadata = part(files::TextAsset::gguf_metadata);
  if (metadata.empty())
    return fail(Code::bad_file, std::string(place), "the model has no tokenizer")
        .expected("tokenizer.ggml.* in a GGUF file, tokenizer.json in the folder, or beside an ONNX model")
        .found("neither")
        .advice("build the engine from a checkpoint with its tokenizer");
  return gguf_tokenizer(TRY(files::read_gguf(std::as_bytes(std::span(metadata)), nullptr, std::string(place))), place);
}

Result<Tokenizer> read_tokenizer(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error) || files::is_onnx(path) || files::is_gguf(path))
    return tokenizer_of(TRY(files::read_text_assets(path)), path.string());
  const auto file = TRY(files::MappedFile::open(path));
  return json_tokenizer({{reinterpret_cast<const char*>(file->bytes().data()), file->size()}, "", ""}, path.string());
}

}  // namespace tenon::llm
