// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "files/language_text.h"
#include "llm/text/tokenizer.h"

namespace tenon::llm {

/// One turn of a chat.
struct Message {
  std::string role;  ///< as the template names them: system, user, assistant, ...
  std::string content;
};

/// The chat template of a checkpoint, with the tokens that it writes by name.
class ChatTemplate {
 public:
  /// Of chat_template.jinja, of tokenizer_config.json (of several the one named "default"), or of GGUF's tokenizer.chat_template. Null
  /// where there is none. Errors: those of Template::parse; bad_file for one that is no text.
  static Result<std::shared_ptr<const ChatTemplate>> of(const files::LanguageText& text, const Tokenizer& tokenizer,
                                                        std::string_view place);

  /// The text of a chat that the model continues with an answer. Errors: those of Template::render (what the template refuses).
  Result<std::string> render(std::span<const Message> messages) const;
  /// The same of messages as transformers takes them: an array of objects. context: an object of more variables (tools, documents, ...).
  Result<std::string> render(const nlohmann::ordered_json& messages, const nlohmann::ordered_json& context) const;
  ~ChatTemplate();

 private:
  struct Parts;
  explicit ChatTemplate(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace tenon::llm
