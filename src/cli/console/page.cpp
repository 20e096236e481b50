// SPDX-License-Identifier: Apache-2.0
#include "cli/console/page.h"

#include <nlohmann/json.hpp>

namespace tenon::cli {

std::string filled_page(std::string_view text, const std::unordered_map<std::string_view, std::string>& words) {
  std::string out;
  while (true) {
    const size_t begin = text.find('@'), end = begin == text.npos ? begin : text.find('@', begin + 1);
    out += text.substr(0, begin);
    if (end == text.npos) return out;
    out += words.at(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

std::string script_safe(const nlohmann::ordered_json& data) {
  std::string out;
  for (const char c : data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
    if (c == '<') out += "\\u003c";
    else out += c;
  return out;
}

std::string joined(std::initializer_list<std::string_view> texts) {
  std::string out;
  for (std::string_view text : texts) out += text;
  return out;
}

}  // namespace tenon::cli
