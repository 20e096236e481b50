// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/rewrite/dump.h"

namespace tenon::cli {

/// One page without references to anything but the ONNX files beside it: the rules with their counts, then each rewrite with both pictures
/// side by side. Light or dark as the reader's system is.
std::string rewrite_page(const std::string& title, const std::vector<std::string>& headline, std::span<const DumpedRewrite> rewrites);

}  // namespace tenon::cli
