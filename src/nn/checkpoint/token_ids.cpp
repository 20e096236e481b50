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

/// Keys from the top of a file to an id: "*" is any key, "[]" an element of an array.
using Pattern = std::initializer_list<std::string_view>;

/// Finds the highest number at the patterns. A pass over the text keeps no part of it.
class HighestId : public json::json_sax_t {
 public:
  explicit HighestId(std::span<const Pattern> patterns) : patterns_(patterns) {}

  uint64_t id = 0;
  std::vector<std::string> path = {};  ///< of `id`; empty: there is none
  uint64_t pieces = 0;                 ///< ["text", score] in the list of Unigram, whose ids are their places there

  bool number_unsigned(json::number_unsigned_t value) override {
    const bool is_id = std::ranges::any_of(patterns_, [&](const Pattern& p) { return is_at(p); });
    if (is_id && (path.empty() || value > id)) id = value, path = at_;
    return true;
  }
  bool key(json::string_t& name) override {
    at_.back() = name;
    return true;
  }
  bool start_object(size_t) override { return enter(""); }
  bool end_object() override { return leave(); }
  bool start_array(size_t) override {
    static const Pattern kPiece = {"model", "vocab", "[]"};
    pieces += is_at(kPiece);
    return enter("[]");
  }
  bool end_array() override { return leave(); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }  // below 0: none
  bool number_float(json::number_float_t, const json::string_t&) override { return true; }
  bool string(json::string_t&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool is_at(const Pattern& pattern) const {
    return std::ranges::equal(at_, pattern, [](const std::string& name, std::string_view p) { return p == "*" || p == name; });
  }
  bool enter(const char* name) {
    at_.emplace_back(name);
    return true;
  }
  bool leave() {
    at_.pop_back();
    return true;
  }

  std::span<const Pattern> patterns_;
  std::vector<std::string> at_;
};

constexpr const char* kAdvice = "take the tokenizer that the model was trained with";

Error other_vocabulary(std::string place, VocabularyRows rows, std::string found) {
  return fail(Code::bad_input, std::move(place), "the tokenizer is of another vocabulary than the model")
      .expected(fmt::format("tokens below {}, as the model has that many {}", rows.count, rows.name))
      .found(std::move(found))
      .advice(kAdvice);
}

Error no_such_token(std::string place, VocabularyRows rows, std::string found) {
  return fail(Code::bad_input, std::move(place), "the id is of no token of the model")
      .expected(fmt::format("an id below {}, as the model has that many {}", rows.count, rows.name))
      .found(std::move(found))
      .advice(kAdvice);
}

Result<void> check_tokenizer_json(std::string_view text, const fs::path& file, VocabularyRows rows) {
  static const Pattern kTokens[] = {{"model", "vocab", "*"}, {"added_tokens", "[]", "id"}};
  HighestId highest(kTokens);
  if (!json::sax_parse(text, &highest)) return {};
  if (std::cmp_greater(highest.pieces, rows.count))
    return other_vocabulary(fmt::format("{}, model.vocab", file.string()), rows, fmt::format("{} tokens", highest.pieces));
  if (highest.path.empty() || std::cmp_less(highest.id, rows.count)) return {};
  const bool is_added = highest.path[0] == "added_tokens";
  const std::string name = is_added ? "" : fmt::format(", '{}'", files::printable(highest.path[2]));
  return other_vocabulary(fmt::format("{}, {}", file.string(), is_added ? "added_tokens" : "model.vocab"), rows,
                          fmt::format("token {}{}", highest.id, name));
}

/// The tokens that begin and end texts, in config.json and others: one, or a list.
Result<void> check_ends(std::string_view text, const fs::path& file, VocabularyRows rows) {
  static const Pattern kIds[] = {{"bos_token_id"},          {"eos_token_id"},          {"eos_token_id", "[]"},
                                 {"model", "bos_token_id"}, {"model", "eos_token_id"}, {"model", "eos_token_id", "[]"}};
  HighestId highest(kIds);
  if (!json::sax_parse(text, &highest) || highest.path.empty() || std::cmp_less(highest.id, rows.count)) return {};
  if (highest.path.back() == "[]") highest.path.pop_back();
  return no_such_token(fmt::format("{}, {}", file.string(), fmt::join(highest.path, ".")), rows, std::to_string(highest.id));
}

Result<void> check_folder(const files::LanguageText& text, const fs::path& folder, VocabularyRows rows) {
  constexpr std::pair<files::TextPart, const char*> kFiles[] = {{files::TextPart::generation_config, "generation_config.json"},
                                                                {files::TextPart::genai_config, "genai_config.json"}};
  TRY(check_tokenizer_json(text.at(files::TextPart::tokenizer), folder / "tokenizer.json", rows));
  std::error_code error;
  if (const fs::path config = folder / "config.json"; fs::is_regular_file(config, error)) {
    const auto file = TRY(files::MappedFile::open(config));
    TRY(check_ends({reinterpret_cast<const char*>(file->bytes().data()), file->size()}, config, rows));
  }
  for (const auto& [part, name] : kFiles)
    if (const auto found = text.find(part); found != text.end()) TRY(check_ends(found->second, folder / name, rows));
  return {};
}

Result<void> check_gguf(std::string_view metadata, const std::string& path, VocabularyRows rows) {
  const files::Gguf file = TRY(files::read_gguf(std::as_bytes(std::span(metadata)), nullptr, path));
  const files::GgufValue* const tokens = file.find("tokenizer.ggml.tokens");
  if (tokens && tokens->type == files::GgufType::array && std::cmp_greater(tokens->count, rows.count))
    return other_vocabulary(path + ", tokenizer.ggml.tokens", rows, fmt::format("{} tokens", tokens->count));
  for (const char* name : {"bos_token_id", "eos_token_id", "eot_token_id", "eom_token_id"}) {
    const std::string key = fmt::format("tokenizer.ggml.{}", name);
    const files::GgufValue* const value = file.find(key);
    const auto id = value ? value->integer() : std::nullopt;
    if (id && *id >= rows.count && *id != UINT32_MAX) return no_such_token(fmt::format("{}, {}", path, key), rows, std::to_string(*id));
  }
  return {};
}

}  // namespace

Result<void> check_token_ids(const files::LanguageText& text, const fs::path& checkpoint, VocabularyRows rows) {
  if (text.contains(files::TextPart::tokenizer)) return check_folder(text, files::language_folder(checkpoint).lexically_normal(), rows);
  if (const auto gguf = text.find(files::TextPart::gguf_metadata); gguf != text.end())
    return check_gguf(gguf->second, checkpoint.string(), rows);
  return {};
}

}  // namespace tenon::nn
