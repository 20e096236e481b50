// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

namespace tenon::llm {

/// Names of tokens that end an answer, even where a checkpoint does not mark them. Source: the model cards of Llama 3, Qwen, Gemma, Phi,
/// Granite, DeepSeek; llama.cpp's src/llama-vocab.cpp.
constexpr std::array<std::string_view, 10> kEndNames = {"<|eot_id|>",         "<|eom_id|>",           "<|im_end|>",      "<|end|>",
                                                        "<end_of_turn>",      "<|endoftext|>",        "<|end_of_text|>", "<EOT>",
                                                        "<end_of_utterance>", "<｜end▁of▁sentence｜>"};

}  // namespace tenon::llm
