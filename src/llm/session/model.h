// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "files/text_assets.h"
#include "llm/session/chat_template.h"
#include "llm/session/generation.h"
#include "llm/text/tokenizer.h"
#include "runtime/engine.h"

namespace tenon::llm {

/// An engine with its tokenizer and its chat template. Immutable: sessions of several threads share it.
struct Model {
  std::shared_ptr<const runtime::Engine> engine;
  Tokenizer tokenizer;
  std::shared_ptr<const ChatTemplate> chat;  ///< null: the checkpoint has none
  std::string place;                         ///< its file, for errors
  SessionLimits limits = {};

  /// The text of a chat, which the model continues with an answer. Errors: not_supported without a template; those of ChatTemplate::render.
  Result<std::string> chat_text(std::span<const Message> messages) const;
  /// The tokens of chat_text(). Names of special tokens in a message become these tokens, as with transformers. Errors: also those of
  /// Tokenizer::encode.
  Result<std::vector<TokenId>> chat_tokens(std::span<const Message> messages) const;
};

/// text: the text assets of the engine file. Errors: those of decoder_interface(), tokenizer_of() (no tokenizer), ChatTemplate::of();
/// bad_file (limits); bad_input where the tokenizer has more tokens than the model.
Result<std::shared_ptr<const Model>> make_model(std::shared_ptr<const runtime::Engine> engine, const files::TextAssets& text,
                                                std::string place);

/// The text assets that an engine file contains. Errors: those of engine::Reader::open.
Result<files::TextAssets> read_engine_text(const std::filesystem::path& engine);

}  // namespace tenon::llm
