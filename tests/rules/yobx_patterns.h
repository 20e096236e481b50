// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

namespace tenon::rules {

/// A rewrite of the pattern optimizer of yobx (github.com/xadupre/yet-another-onnx-builder, August 2026).
struct YobxPattern {
  std::string_view name;     ///< its class there, without the suffix Pattern
  std::string_view meaning;  ///< what it rewrites
};
/// The 104 patterns of its set `default`, and the 40 of its set `onnxruntime`. Rule::covered_patterns names the rules here that do the
/// same.
std::span<const YobxPattern> yobx_default_patterns();
std::span<const YobxPattern> yobx_onnxruntime_patterns();
/// Patterns that are in neither set: two for ONNX Runtime, then two for ensembles of trees.
std::span<const YobxPattern> yobx_other_patterns();

}  // namespace tenon::rules
