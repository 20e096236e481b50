// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become a tokenizer, of GGUF or JSON, whose tokens of any text decode to sound UTF-8; or one error.
#include <cstdint>
#include <cstdlib>

#include "files/gguf.h"
#include "llm/text/gguf_tokenizer.h"
#include "llm/text/json_tokenizer.h"
#include "llm/text/utf8.h"

namespace {

using namespace tenon;

Result<llm::Tokenizer> tokenizer_of(std::string_view bytes) {
  if (!bytes.starts_with("GGUF")) return llm::json_tokenizer({bytes, "", ""}, "fuzz");
  const auto file = files::read_gguf(std::as_bytes(std::span(bytes)), nullptr, "fuzz");
  if (!file) return std::unexpected(file.error());
  return llm::gguf_tokenizer(*file, "fuzz");
}

void expect_sound(const Error& error) {
  if (error.code() == Code::internal || error->place.empty() || error->expected.empty() || error->found.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = tokenizer_of(bytes);
  if (!tokenizer) {
    expect_sound(tokenizer.error());
    return 0;
  }
  const std::string_view texts[] = {"", "don't stop: 12345 \u00e9\u0301\u4e00 <s><|im_end|>\r\n  x", bytes.substr(0, 300),
                                    bytes.substr(bytes.size() / 2).substr(0, 300)};
  for (const std::string_view text : texts) {
    for (const bool special : {false, true}) {
      const auto ids = tokenizer->encode(text, {special, special});
      if (!ids) {
        expect_sound(ids.error());
        continue;
      }
      for (const llm::TokenId id : *ids)
        if (id < 0 || id >= tokenizer->vocabulary_size()) std::abort();
      const std::string decoded = tokenizer->decode(*ids, {.skip_special = special});
      if (llm::sound_utf8(decoded) != decoded) std::abort();
    }
  }
  return 0;
}
