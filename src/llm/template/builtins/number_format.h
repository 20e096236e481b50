// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

namespace tenon::llm::jinja {

/// A format specification: the fields that Python's % and str.format share.
struct FormatStyle {
  std::string fill = " ";  ///< one character
  char align = 0;          ///< '<', '>', '^', '='; 0: default of the type
  char sign = '-';         ///< '+', ' ', '-'
  bool alternate = false;  ///< '#'
  char grouping = 0;       ///< ',' or '_'
  int64_t width = 0;       ///< least number of characters
  int64_t precision = -1;  ///< -1: none
  char type = 0;           ///< 'd', 'f', ...; 0: none
};

/// An int by the types d, x, X, o, b, c.
Result<std::string> format_integer(RenderState& state, int64_t value, const FormatStyle& style);
/// A float by the types e, E, f, F, g, G, %, and none.
Result<std::string> format_float(RenderState& state, double value, const FormatStyle& style);
/// A text: cut to the precision, padded to the width.
Result<std::string> format_text(RenderState& state, std::string_view value, const FormatStyle& style);

}  // namespace tenon::llm::jinja
