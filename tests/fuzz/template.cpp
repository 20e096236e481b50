// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any text is a chat template that renders a chat within its limits, and likewise a second time; or one error.
#include <cstdint>
#include <cstdlib>

#include "llm/template/template.h"

namespace {

using namespace tenon;

/// What chats give templates, and the values that the corpus names.
constexpr std::string_view kContext = R"({
  "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "  h\u00e9llo <|im_end|> 12 "},
               {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1.5}}}]}],
  "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
  "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>",
  "n": 7, "neg": -7, "f": 2.5, "big": 1e22, "small": 1e-7, "t": true, "none_value": null, "s": "Hello, World", "e": "", "xs": [3, 1, 2],
  "d": {"b": 1, "a": [1, 2.0, null, true], "items": "own", "c d": "x"}, "u": "\u00c0 \u00df \ufb01 \u65e5", "ws": " \t x y \n\n z ",
  "people": [{"name": "Bo", "age": 30, "tags": ["x"]}, {"name": "al", "age": 4}], "html": "<a>&'</a>", "lines": "a\nb\r\nc\n\nd"})";
constexpr llm::Limits kLimits{.steps = 20'000, .bytes = 4 << 20, .output = 1 << 16};

void expect_sound(const Error& error) {
  if (error.code() == Code::internal || error->place.empty() || error->what.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto context = nlohmann::ordered_json::parse(kContext);
  const auto parsed = llm::Template::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!parsed) {
    expect_sound(parsed.error());
    return 0;
  }
  const auto first = parsed->render(context, {.limits = kLimits, .now = 0}),
             second = parsed->render(context, {.limits = kLimits, .now = 0});
  if (first.has_value() != second.has_value() || (first && *first != *second)) std::abort();
  if (!first) expect_sound(first.error());
  if (first && first->size() > kLimits.output) std::abort();
  return 0;
}
