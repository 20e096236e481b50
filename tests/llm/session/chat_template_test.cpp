// SPDX-License-Identifier: Apache-2.0
#include "llm/session/chat_template.h"

#include <gtest/gtest.h>

#include "llm/session/model.h"
#include "scripted_decoder.h"

namespace tenon::llm {
namespace {

using files::TextAsset;

constexpr const char* kTemplate =
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{{ m.role }} {{ m.content }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}me{% endif %}";
const std::vector<Message> kChat{{"user", "hi"}, {"assistant", "yes"}, {"user", "go"}};

/// "" where there is none.
std::string rendered(const files::TextAssets& text, const std::vector<Message>& chat = kChat) {
  const auto found = ChatTemplate::of(text, testing::letters(), "m");
  if (!found) return "error: " + found.error().text();
  if (!*found) return "";
  const auto out = (*found)->render(chat);
  return out ? *out : "error: " + out.error().text();
}

TEST(ChatTemplate, OfAFileOfItsOwnOrOfTheConfiguration) {
  const std::string want = "<s>user hi</s>assistant yes</s>user go</s>me";
  EXPECT_EQ(rendered({}), "");
  EXPECT_EQ(rendered({{TextAsset::tokenizer_config, "{}"}}), "");
  EXPECT_EQ(rendered({{TextAsset::chat_template, kTemplate}, {TextAsset::tokenizer_config, R"({"chat_template": "no"})"}}), want);
  EXPECT_EQ(rendered({{TextAsset::tokenizer_config, R"({"chat_template": "yes"})"}}), "yes");
  EXPECT_EQ(rendered({{TextAsset::tokenizer_config,
                       R"({"chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]})"}}),
            "d");
  EXPECT_TRUE(rendered({{TextAsset::tokenizer_config, R"({"chat_template": 5})"}}).starts_with("error: "));
  EXPECT_TRUE(rendered({{TextAsset::chat_template, "{% for"}}).starts_with("error: "));
}

TEST(ChatTemplate, ARoleThatItRefusesIsAnError) {
  const std::string text = rendered({{TextAsset::chat_template, kTemplate}}, {{"system", "be kind"}, {"user", "hi"}});
  EXPECT_TRUE(text.starts_with("error: ")) << text;
  EXPECT_NE(text.find("no system"), std::string::npos) << text;
}

TEST(ChatTemplate, AModelWithoutOneContinuesTextsAlone) {
  const Model model{nullptr, testing::letters(), nullptr, "m.tenon"};
  const auto tokens = model.chat_tokens(kChat);
  ASSERT_FALSE(tokens);
  EXPECT_EQ(tokens.error().code(), Code::not_supported);
  EXPECT_EQ(tokens.error()->place, "m.tenon");
}

}  // namespace
}  // namespace tenon::llm
