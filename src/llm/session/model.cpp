// SPDX-License-Identifier: Apache-2.0
#include "llm/session/model.h"

#include "engine/reader.h"
#include "files/mapped_file.h"
#include "llm/session/engine_decoder.h"
#include "llm/text/json_document.h"
#include "llm/text/read_tokenizer.h"

namespace tenon::llm {

Result<std::string> Model::chat_text(std::span<const Message> messages) const {
  if (!chat)
    return fail(Code::not_supported, place, "the model has no chat template")
        .expected("tokenizer.chat_template in a GGUF file, or chat_template.jinja or tokenizer_config.json in the folder")
        .found("none")
        .advice("continue a text instead (`tenon generate`), or take a model that was trained for chats");
  return chat->render(messages);
}

Result<std::vector<TokenId>> Model::chat_tokens(std::span<const Message> messages) const {
  return tokenizer.encode(TRY(chat_text(messages)), {.add_special = false});
}

namespace {

Result<SessionLimits> limits_of(const files::TextAssets& text, std::string_view place) {
  SessionLimits out;
  const auto part = text.find(files::TextAsset::session_limits);
  if (part == text.end()) return out;
  const Json json = TRY(read_json_object(part->second, place));
  const auto read = [&](const char* name, int64_t& value) {
    if (const auto found = integer_member(json, name); found && *found > 0) value = *found;
  };
  read("max_input_len", out.max_input);
  read("opt_num_tokens", out.chunk);
  return out;
}

}  // namespace

Result<std::shared_ptr<const Model>> make_model(std::shared_ptr<const runtime::Engine> engine, const files::TextAssets& text,
                                                std::string place) {
  const DecoderInterface interface = TRY(decoder_interface(*engine, place));
  Tokenizer tokenizer = TRY(tokenizer_of(text, place));
  TRY(tokenizer.check_vocabulary(interface.vocabulary, place));
  auto chat = TRY(ChatTemplate::of(text, tokenizer, place));
  const SessionLimits limits = TRY(limits_of(text, place));
  return std::make_shared<const Model>(Model{std::move(engine), std::move(tokenizer), std::move(chat), std::move(place), limits});
}

Result<files::TextAssets> read_engine_text(const std::filesystem::path& engine) {
  const auto file = TRY(files::MappedFile::open(engine));
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, engine.string()));
  files::TextAssets out;
  for (const engine::Section& s : reader.sections())
    if (s.type == engine::SectionType::language_text)
      out[static_cast<files::TextAsset>(s.tag)].assign(reinterpret_cast<const char*>(s.bytes.data()), s.bytes.size());
  return out;
}

}  // namespace tenon::llm
