// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "files/text_assets.h"
#include "llm/text/tokenizer.h"

namespace tenon::llm {

/// One turn of a chat.
struct Message {
  std::string role;  ///< who speaks, by the template's names: system, user, assistant, ...
  std::string content;
};

/// The chat template of a checkpoint, with the special tokens (bos_token, eos_token, ...) that it uses as variables.
class ChatTemplate {
 public:
  /// The template in chat_template.jinja, in tokenizer_config.json (of several the one named "default"), or in GGUF's
  /// tokenizer.chat_template. Null where the checkpoint has none. Errors: those of Template::parse; bad_file for one that is no text.
  static Result<std::shared_ptr<const ChatTemplate>> of(const files::TextAssets& text, const Tokenizer& tokenizer, std::string_view place);

  /// The text of a chat that the model continues with an answer. Errors: those of Template::render (what the template refuses).
  Result<std::string> render(std::span<const Message> messages) const;
  /// The same for messages in the form of transformers: an array of objects. context: an object of further variables (tools, documents,
  /// ...).
  Result<std::string> render(const nlohmann::ordered_json& messages, const nlohmann::ordered_json& context) const;
  ~ChatTemplate();

 private:
  struct Parts;
  explicit ChatTemplate(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace tenon::llm
