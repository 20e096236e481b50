// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

namespace tenon::llm::jinja {

/// How a value is written: the part of Python's format specifications that % and str.format share.
struct FormatStyle {
  std::string fill = " ";  ///< one character
  char align = 0;          ///< '<', '>', '^', '='; 0: by type
  char sign = '-';         ///< '+', ' ', '-'
  bool alternate = false;
  char grouping = 0;  ///< ',' or '_'
  int64_t width = 0, precision = -1;
  char type = 0;
};

/// An int by the types d, x, X, o, b, c.
Result<std::string> format_integer(RenderState& state, int64_t value, const FormatStyle& style);
/// A float by the types e, E, f, F, g, G, %, and none.
Result<std::string> format_float(RenderState& state, double value, const FormatStyle& style);
/// A text: cut to the precision, padded to the width.
Result<std::string> format_text(RenderState& state, std::string_view value, const FormatStyle& style);

}  // namespace tenon::llm::jinja
