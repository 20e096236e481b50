// SPDX-License-Identifier: Apache-2.0
#include "llm/template/template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tenon::llm {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const fs::path kFolder = fs::path(TENON_TEST_DATA) / "template";
constexpr std::time_t kNow = 1753900000;  // 2025-07-30 18:26:40 UTC, as in make_expected.py

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  EXPECT_TRUE(in) << path;
  return out.str();
}

/// "" for an error, with "error: " before its text.
std::string rendered(std::string_view text, const Json& context, const Limits& limits = {}) {
  auto parsed = Template::parse(text, "t");
  if (!parsed) return "error: " + parsed.error().text();
  auto out = parsed->render(context, {.limits = limits, .now = kNow});
  return out ? *out : "error: " + out.error().text();
}

class Templates : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

/// expected: null where Jinja2 has an error.
void expect(const Json& expected, std::string_view text, const Json& context) {
  const std::string found = rendered(text, context);
  if (expected.is_null()) {
    EXPECT_TRUE(found.starts_with("error: ")) << text << "\n" << found;
  } else {
    EXPECT_EQ(found, expected.get<std::string>()) << text;
  }
}

TEST_F(Templates, FamiliesRenderChatsAsJinja2Does) {
  const Json chats = Json::parse(text_of(kFolder / "chats.json")), expected = Json::parse(text_of(kFolder / "chats_expected.json"));
  EXPECT_GE(expected.size(), 7u);
  for (const auto& [name, outputs] : expected.items()) {
    const std::string text = text_of(kFolder / "templates" / (name + ".jinja"));
    ASSERT_EQ(outputs.size(), chats.size());
    for (size_t i = 0; i < chats.size(); ++i) expect(outputs[i], text, chats[i]);
  }
}

TEST_F(Templates, ExpressionsAndStatementsGiveWhatJinja2Gives) {
  const Json all = Json::parse(text_of(kFolder / "expressions.json"));
  for (const auto& entry : all["cases"]) expect(entry[1], entry[0].get<std::string>(), all["context"]);
}

TEST_F(Templates, ErrorsHaveLineAndColumn) {
  const std::pair<const char*, const char*> kCases[] = {
      {"a\n{{ x + 1 }}", "error[TN120] at t:2:6: 'x' is undefined"},
      {"{% if x %}\n{% endfor %}", "error[TN100] at t:2:4: no such statement stands here; found 'endfor'"},
      {"{{ 1 +\n }}", "error[TN100] at t:2:2: the template's syntax is wrong; expected an expression, found '}}'"},
      {"é {{ 'a' | uper }}", "error[TN100] at t:1:12: unknown filter; found 'uper'; try: did you mean 'upper'?"},
      {"{{ 'a' is strin }}", "error[TN100] at t:1:11: unknown test; found 'strin'; try: did you mean 'string'?"},
      {"{% include 'x' %}", "error[TN300] at t:1:4: not supported yet: {% include %} in templates; found 'include'"},
      {"{{ xs.append(1) }}", "error[TN120] at t:1:13: a template may not change a list: access to 'append' is refused"},
      {"{{ raise_exception('no ' ~ 'way') }}", "error[TN120] at t:1:19: the template refuses the conversation: no way"},
      {"{{ 'abc }}", "error[TN100] at t:1:4: a text does not end; expected ', found end of the template"},
      {"{{ 'a'.encode() }}", "error[TN300] at t:1:7: not supported yet: str.encode in templates"},
      {"{{ 9223372036854775807 + 1 }}", "error[TN300] at t:1:24: not supported yet: integers beyond 63 bits"},
  };
  for (const auto& [text, error] : kCases) {
    std::string found = rendered(text, {{"xs", Json::array({1})}});
    EXPECT_TRUE(found.starts_with("error: ")) << text;
    std::erase(found, '\n');
    std::string flat;  // the parts of an error stand on lines of their own
    for (const char c : found) {
      if (c != ' ' || !flat.ends_with(' ')) flat += c;
    }
    std::string head(error);
    head = head.substr(0, head.find(';'));
    EXPECT_NE(flat.find(head), std::string::npos) << flat;
  }
}

TEST_F(Templates, KeysKeepTheirOrder) {
  EXPECT_EQ(rendered("{{ d | tojson }}", Json::parse(R"({"d": {"z": 1, "a": {"y": 2, "b": 3}}})")), R"({"z": 1, "a": {"y": 2, "b": 3}})");
}

TEST_F(Templates, AreRenderedSeveralTimes) {
  auto parsed = Template::parse("{% set ns = namespace(n=n) %}{% set ns.n = ns.n + 1 %}{{ ns.n }}");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->render({{"n", 1}}).value(), "2");
  EXPECT_EQ(parsed->render({{"n", 5}}).value(), "6");
}

TEST_F(Templates, WithoutEndOrBoundAreStopped) {
  const std::string loops =
      "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}";
  const std::string growing = "{% set ns = namespace(x='ab') %}{% for a in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}";
  const std::string nested = "{% set ns = namespace(x=[]) %}{% for a in range(1000) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}";
  const std::string doubled = "{% set ns = namespace(x=[]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}";
  const std::string kCases[] = {
      loops,
      growing,
      nested,
      doubled + "{{ ns.x }}",
      doubled + "{{ ns.x | tojson }}",
      doubled + "{% set y = ns.x + [] %}{{ y == ns.x + [] }}{{ ns.x[0] + [] == ns.x[0] + [1] }}{{ ns.x | string }}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{{ 'x' * 99999999999 }}",
      "{{ [1] * 99999999999 }}",
      "{{ ('x' * 1000000).replace('', 'y' * 1000000) }}",
      "{{ 'x'.center(99999999999) }}",
      "{{ ('a,' * 4000000).split(',') | length }}",
      "{{ ('a,' * 4000000).rsplit(',') | length }}",
      "{{ ('a ' * 4000000).split() | length }}",
      "{{ ('\\n' * 4000000).splitlines() | length }}",
      "{{ ('\\n' * 8000000) | indent }}",
      "{{ '%99999999999d' % 1 }}",
      "{{ '{:99999999999}'.format(1) }}",
      "{% for i in range(99999) %}{{ 'x' * 10000 }}{% endfor %}",
      "{% set ns = namespace() %}{% set ns.self = ns %}{{ ns }}",
      "{{ " + std::string(100000, '(') + "}}",
      "{{ " + std::string(100000, '[') + "}}",
      "{{ 1" +
          [] {
            std::string out;
            for (int i = 0; i < 100000; ++i) out += "+1";
            return out;
          }() +
          " }}",
      "{{ " + std::string(100000, '-') + "1 }}",
      [] {
        std::string out;
        for (int i = 0; i < 100000; ++i) out += "{% if 1 %}";
        return out;
      }(),
  };
  for (const std::string& text : kCases) {
    const std::string found = rendered(text, Json::object(), {.steps = 1'000'000, .bytes = 64 << 20, .output = 8 << 20});
    EXPECT_TRUE(found.find("TN103") != std::string::npos || found.find("TN100") != std::string::npos) << text.substr(0, 200) << "\n"
                                                                                                      << found.substr(0, 200);
  }
}

TEST_F(Templates, SearchInLinearTime) {
  const std::string text = "{% set text = 'a' * 3000000 %}{% set part = 'a' * 1000000 ~ 'b' %}{% set front = 'b' ~ 'a' * 1000000 %}";
  EXPECT_EQ(
      rendered(
          text +
              "{{ text.find(part) }} {{ part in text }} {{ text.rfind(front) }} {{ text.count(part) }} {{ text.replace(part, '') == text }} "
              "{{ text.split(part) | length }} {{ text.rsplit(front) | length }} {{ text.rpartition(front)[0] | length }}",
          Json::object()),
      "-1 False -1 0 True 1 1 0");
  EXPECT_EQ(rendered("{{ 'abcabcab'.rfind('ab') }} {{ 'abcabcab'.rfind('') }} {{ 'aaaa'.rsplit('aa', 1) }} {{ 'a-b--c'.rsplit('-', 2) }} "
                     "{{ ''.rsplit('x') }} {{ 'aaa'.rpartition('aa') }} {{ 'abc'.find('') }} {{ 'aaa'.rfind('aa') }}",
                     Json::object()),
            "6 8 ['aa', ''] ['a-b', '', 'c'] [''] ('a', 'aa', '') 0 1");
}

TEST_F(Templates, ContextsThatDoNotFitAreErrors) {
  EXPECT_NE(rendered("{{ x }}", Json::array()).find("context of a template is no object"), std::string::npos);
  EXPECT_NE(rendered("{{ x }}", {{"x", UINT64_MAX}}).find("integers beyond 63 bits"), std::string::npos);
  Json deep = 1;
  for (int i = 0; i < 300; ++i) deep = Json::array({deep});
  EXPECT_NE(rendered("{{ x }}", {{"x", deep}}).find("nested too deeply"), std::string::npos);
  EXPECT_EQ(rendered("{{ y }}", {{"x", deep}, {"y", 1}}), "1");  // what the template does not name is not looked at
}

TEST_F(Templates, BytesThatAreNoUtf8StayAsTheyAre) {
  Json context;
  context["x"] = std::string("a\xff\xc3 b");
  EXPECT_EQ(rendered("{{ x | upper }}{{ x | length }}{{ x[1:3] }}", context), "A\xff\xc3 B5\xff\xc3");
}

}  // namespace
}  // namespace tenon::llm
