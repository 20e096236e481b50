// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

/// The files of src/cli/page, each by its name: page.css is page_css.
namespace tenon::cli::pages {
#include "tenon/page_texts.inc"
}  // namespace tenon::cli::pages
