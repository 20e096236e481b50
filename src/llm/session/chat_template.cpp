// SPDX-License-Identifier: Apache-2.0
#include "llm/session/chat_template.h"

#include <fmt/format.h>

#include "files/gguf.h"
#include "llm/template/template.h"
#include "llm/text/json_document.h"

namespace tenon::llm {
namespace {

using files::TextAsset;

std::string_view part(const files::TextAssets& text, TextAsset which) {
  const auto found = text.find(which);
  return found == text.end() ? std::string_view() : std::string_view(found->second);
}

Error no_text(std::string_view place, std::string found) {
  return fail(Code::bad_file, std::string(place), "the chat template is no text")
      .expected("a string, or a list of {name, template}")
      .found(std::move(found));
}

/// "chat_template" of tokenizer_config.json: a string, or a list of named ones.
Result<std::string> template_in(const Json& config, std::string_view place) {
  const Json* const found = member(config, "chat_template");
  if (!found) return std::string();
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) return no_text(place, found->type_name());
  std::string out;
  for (const Json& entry : *found) {
    const auto name = text_member(entry, "name"), text = text_member(entry, "template");
    if (!name || !text) return no_text(place, "a list with another entry");
    if (out.empty() || *name == "default") out = *text;
  }
  return out;
}

Result<std::string> template_in_gguf(std::string_view metadata, std::string_view place) {
  const files::Gguf file = TRY(files::read_gguf(std::as_bytes(std::span(metadata)), nullptr, std::string(place)));
  const files::GgufValue* const found = file.find("tokenizer.chat_template");
  if (!found) return std::string();
  const auto text = found->text();
  if (!text) return no_text(place, std::string(name_of(found->type)));
  return std::string(*text);
}

Result<std::string> template_of(const files::TextAssets& text, std::string_view place) {
  if (const auto own = part(text, TextAsset::chat_template); !own.empty()) return std::string(own);
  if (const auto config = part(text, TextAsset::tokenizer_config); !config.empty()) {
    auto found = TRY(template_in(TRY(read_json_object(config, place)), place));
    if (!found.empty()) return found;
  }
  if (const auto metadata = part(text, TextAsset::gguf_metadata); !metadata.empty()) return template_in_gguf(metadata, place);
  return std::string();
}

nlohmann::ordered_json special_texts(const Tokenizer& tokenizer) {
  auto out = nlohmann::ordered_json::object();
  const auto add = [&](const char* name, std::optional<TokenId> token) {
    if (token) out[name] = std::string(tokenizer.token_text(*token));
  };
  const SpecialTokens& special = tokenizer.special();
  add("bos_token", special.begin);
  add("eos_token", special.end);
  add("unk_token", special.unknown);
  add("pad_token", special.padding);
  return out;
}

}  // namespace

struct ChatTemplate::Parts {
  Template parsed;
  nlohmann::ordered_json tokens;  ///< bos_token, eos_token, ...: their texts
};

ChatTemplate::ChatTemplate(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
ChatTemplate::~ChatTemplate() = default;

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::of(const files::TextAssets& text, const Tokenizer& tokenizer,
                                                             std::string_view place) {
  const std::string source = TRY(template_of(text, place));
  if (source.empty()) return nullptr;
  auto parsed = TRY(Template::parse(source, fmt::format("{}: chat template", place)));
  return std::shared_ptr<const ChatTemplate>(
      new ChatTemplate(std::make_unique<const Parts>(Parts{std::move(parsed), special_texts(tokenizer)})));
}

Result<std::string> ChatTemplate::render(std::span<const Message> messages) const {
  auto json = nlohmann::ordered_json::array();
  for (const Message& m : messages) json.push_back({{"role", m.role}, {"content", m.content}});
  return render(json, nlohmann::ordered_json::object());
}

Result<std::string> ChatTemplate::render(const nlohmann::ordered_json& messages, const nlohmann::ordered_json& context) const {
  nlohmann::ordered_json all{{"messages", messages}, {"add_generation_prompt", true}};
  all.update(parts_->tokens);
  all.update(context);
  return parts_->parsed.render(all);
}

}  // namespace tenon::llm
