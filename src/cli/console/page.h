// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>

#include <nlohmann/json_fwd.hpp>

namespace tenon::cli {

/// The text of a page (src/cli/page) with each @word@ replaced. Errors: a word that is not given is our own bug.
std::string filled_page(std::string_view text, const std::unordered_map<std::string_view, std::string>& words);

/// JSON for an HTML script element: no text in it can end the element. Invalid UTF-8 is replaced.
std::string script_safe(const nlohmann::ordered_json& data);

/// The concatenation of the texts.
std::string joined(std::initializer_list<std::string_view> texts);

}  // namespace tenon::cli
