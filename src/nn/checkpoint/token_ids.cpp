// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint/token_ids.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "files/gguf.h"
#include "files/mapped_file.h"
#include "files/printable.h"

namespace tenon::nn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A path of JSON keys from the top of a file to a token id; "*" matches any key, "[]" an element of an array.
using PathPattern = std::initializer_list<std::string_view>;

/// A SAX handler that finds the highest number at the given paths, without building the document.
class HighestId : public json::json_sax_t {
 public:
  explicit HighestId(std::span<const PathPattern> patterns) : patterns_(patterns) {}

  uint64_t id = 0;
  std::vector<std::string> path = {};  ///< of `id`; empty: there is none
  uint64_t pieces = 0;                 ///< ["text", score] in the list of Unigram, whose ids are their places there

  bool number_unsigned(json::number_unsigned_t value) override {
    const bool is_id = std::ranges::any_of(patterns_, [&](const PathPattern& p) { return matches_path(p); });
    if (is_id && (path.empty() || value > id)) id = value, path = current_path_;
    return true;
  }
  bool key(json::string_t& name) override {
    current_path_.back() = name;
    return true;
  }
  bool start_object(size_t) override { return enter(""); }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override {
    static const PathPattern kPiece = {"model", "vocab", "[]"};
    pieces += matches_path(kPiece);
    return enter("[]");
  }
  bool end_array() override { return leave(); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }  // negative: no id
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool matches_path(const PathPattern& pattern) const {
    return std::ranges::equal(current_path_, pattern, [](const std::string& name, std::string_view p) { return p == "*" || p == name; });
  }
  bool enter(const char* name) {
    current_path_.emplace_back(name);
    return true;
  }
  bool leave() {
    current_path_.pop_back();
    return true;
  }

  std::span<const PathPattern> patterns_;
  std::vector<std::string> current_path_;  ///< keys from the top of the file to the current value
};

constexpr const char* kAdvice = "take the tokenizer that the model was trained with";

Error vocabulary_mismatch(std::string place, VocabularyRows rows, std::string found) {
  return fail(Code::bad_input, std::move(place), "the tokenizer is of another vocabulary than the model")
      .expected(fmt::format("tokens below {}, as the model has that many {}", rows.count, rows.name))
      .found(std::move(found))
      .advice(kAdvice);
}

Error token_out_of_range(std::string place, VocabularyRows rows, std::string found) {
  return fail(Code::bad_input, std::move(place), "the id is of no token of the model")
      .expected(fmt::format("an id below {}, as the model has that many {}", rows.count, rows.name))
      .found(std::move(found))
      .advice(kAdvice);
}

Result<void> check_tokenizer_json(std::string_view text, const fs::path& file, VocabularyRows rows) {
  static const PathPattern kTokens[] = {{"model", "vocab", "*"}, {"added_tokens", "[]", "id"}};
  HighestId highest(kTokens);
  if (!json::sax_parse(text, &highest)) return {};
  if (std::cmp_greater(highest.pieces, rows.count))
    return vocabulary_mismatch(fmt::format("{}, model.vocab", file.string()), rows, fmt::format("{} tokens", highest.pieces));
  if (highest.path.empty() || std::cmp_less(highest.id, rows.count)) return {};
  const bool is_added = highest.path[0] == "added_tokens";
  const std::string name = is_added ? "" : fmt::format(", '{}'", files::printable(highest.path[2]));
  return vocabulary_mismatch(fmt::format("{}, {}", file.string(), is_added ? "added_tokens" : "model.vocab"), rows,
                             fmt::format("token {}{}", highest.id, name));
}

/// Checks the ids of the tokens that begin and end texts (bos, eos) in config.json and similar files: a number or a list.
Result<void> check_special_tokens(std::string_view text, const fs::path& file, VocabularyRows rows) {
  static const PathPattern kIds[] = {{"bos_token_id"},          {"eos_token_id"},          {"eos_token_id", "[]"},
                                     {"model", "bos_token_id"}, {"model", "eos_token_id"}, {"model", "eos_token_id", "[]"}};
  HighestId highest(kIds);
  if (!json::sax_parse(text, &highest) || highest.path.empty() || std::cmp_less(highest.id, rows.count)) return {};
  if (highest.path.back() == "[]") highest.path.pop_back();
  return token_out_of_range(fmt::format("{}, {}", file.string(), fmt::join(highest.path, ".")), rows, std::to_string(highest.id));
}

Result<void> check_folder(const files::TextAssets& text, const fs::path& folder, VocabularyRows rows) {
  constexpr std::pair<files::TextAsset, const char*> kFiles[] = {{files::TextAsset::generation_config, "generation_config.json"},
                                                                 {files::TextAsset::genai_config, "genai_config.json"}};
  TRY(check_tokenizer_json(text.at(files::TextAsset::tokenizer), folder / "tokenizer.json", rows));
  std::error_code error;
  if (const fs::path config = folder / "config.json"; fs::is_regular_file(config, error)) {
    const auto file = TRY(files::MappedFile::open(config));
    TRY(check_special_tokens({reinterpret_cast<const char*>(file->bytes().data()), file->size()}, config, rows));
  }
  for (const auto& [part, name] : kFiles)
    if (const auto found = text.find(part); found != text.end()) TRY(check_special_tokens(found->second, folder / name, rows));
  return {};
}

Result<void> check_gguf(std::string_view metadata, const std::string& path, VocabularyRows rows) {
  const files::Gguf file = TRY(files::read_gguf(std::as_bytes(std::span(metadata)), nullptr, path));
  const files::GgufValue* const tokens = file.find("tokenizer.ggml.tokens");
  if (tokens && tokens->type == files::GgufType::array && std::cmp_greater(tokens->count, rows.count))
    return vocabulary_mismatch(path + ", tokenizer.ggml.tokens", rows, fmt::format("{} tokens", tokens->count));
  for (const char* name : {"bos_token_id", "eos_token_id", "eot_token_id", "eom_token_id"}) {
    const std::string key = fmt::format("tokenizer.ggml.{}", name);
    const files::GgufValue* const value = file.find(key);
    const auto id = value ? value->integer() : std::nullopt;
    if (id && *id >= rows.count && *id != UINT32_MAX)
      return token_out_of_range(fmt::format("{}, {}", path, key), rows, std::to_string(*id));
  }
  return {};
}

}  // namespace

Result<void> check_token_ids(const files::TextAssets& text, const fs::path& checkpoint, VocabularyRows rows) {
  if (text.contains(files::TextAsset::tokenizer)) return check_folder(text, files::language_folder(checkpoint).lexically_normal(), rows);
  if (const auto gguf = text.find(files::TextAsset::gguf_metadata); gguf != text.end())
    return check_gguf(gguf->second, checkpoint.string(), rows);
  return {};
}

}  // namespace tenon::nn
