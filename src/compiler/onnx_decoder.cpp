// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx_decoder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool is_file(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error);
}

/// An empty object where there is no such file.
Result<json> read_config(const fs::path& file) {
  if (!is_file(file)) return json::object();
  std::ifstream text(file);
  json out = json::parse(text, nullptr, false);
  if (!out.is_object()) return fail(Code::bad_file, file.string(), "the file is no JSON object");
  return out;
}

/// The member that these keys lead to; null: there is none.
const json* member_at(const json& in, std::initializer_list<const char*> keys) {
  const json* at = &in;
  for (const char* key : keys) {
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &(*at)[key];
  }
  return at;
}

int64_t number(const json* value) {
  return value && value->is_number_unsigned() && value->get<uint64_t>() < uint64_t{1} << 40 ? value->get<int64_t>() : 0;
}

/// The folder of the model, and the one around it where that is named onnx.
std::vector<fs::path> folders_of(const fs::path& model) {
  const fs::path own = model.has_parent_path() ? model.parent_path() : fs::path(".");
  if (own.filename() == "onnx") return {own, own / ".."};
  return {own};
}

/// 0 where no configuration states one.
Result<int64_t> trained_context(const fs::path& model) {
  for (const fs::path& folder : folders_of(model)) {
    const json genai = TRY(read_config(folder / "genai_config.json")), config = TRY(read_config(folder / "config.json"));
    if (const int64_t found = number(member_at(genai, {"model", "context_length"}))) return found;
    for (const char* key : {"max_position_embeddings", "n_positions", "n_ctx", "max_sequence_length", "seq_length"})
      if (const int64_t found = number(member_at(config, {key}))) return found;
  }
  return 0;
}

/// Safe: a name without folders.
std::optional<std::string> named_by_genai(const fs::path& folder) {
  const auto config = read_config(folder / "genai_config.json");
  const json* const name = config ? member_at(*config, {"model", "decoder", "filename"}) : nullptr;
  if (!name || !name->is_string()) return std::nullopt;
  return fs::path(name->get<std::string>()).filename().string();
}

bool is_automatic(std::string_view state) { return state == "auto" || (state.starts_with("auto:") && state.find('=') == state.npos); }

}  // namespace

std::optional<fs::path> onnx_decoder_in(const fs::path& folder) {
  if (is_file(folder / "model.safetensors") || is_file(folder / "model.safetensors.index.json")) return std::nullopt;
  std::vector<std::string> names{"model.onnx", "decoder_model_merged.onnx", "decoder_with_past_model.onnx"};
  if (const auto named = named_by_genai(folder)) names.insert(names.begin(), *named);
  for (const fs::path& place : {folder, folder / "onnx"})
    for (const std::string& name : names)
      if (is_file(place / name)) return place / name;
  return std::nullopt;
}

bool makes_decoder(const std::vector<std::string>& states) { return std::ranges::any_of(states, is_automatic); }

Result<std::vector<std::string>> states_of_decoder(const fs::path& model, const std::vector<std::string>& states, int64_t context) {
  const int64_t most = TRY(trained_context(model));
  if (context > most && most > 0)
    return fail(Code::bad_usage, "--context", "the model was trained for a shorter context")
        .expected(fmt::format("at most {}", most))
        .found(std::to_string(context));
  const int64_t capacity = context > 0 ? context : most;
  std::vector<std::string> out = states;
  if (capacity > 0)
    for (std::string& state : out)
      if (state == "auto") state += fmt::format(":{}", capacity);
  return out;
}

std::vector<fs::path> files_of_onnx_decoder(const fs::path& model) {
  std::vector<fs::path> out{model};
  std::error_code error;
  const std::string stem = model.stem().string();
  for (const fs::path& folder : folders_of(model))
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string(), ending = entry.path().extension().string();
      const bool is_part = (name.starts_with(stem) && ending != ".tenon") || ending == ".json" || ending == ".jinja" || ending == ".data" ||
                           ending == ".bin" || ending == ".onnx_data";
      if (is_part && entry.is_regular_file(error)) out.push_back(entry.path());
    }
  std::ranges::sort(out);
  return out;
}

}  // namespace tenon::compiler
