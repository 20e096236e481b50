// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

namespace tenon::rules {

/// One rewrite of yobx's pattern optimizer (github.com/xadupre/yet-another-onnx-builder, August 2026), by its meaning.
struct Seed {
  std::string_view name;  ///< its class there, without the suffix Pattern
  std::string_view meaning;
};
/// The 104 of its set `default`, and the 40 of its set `onnxruntime`. Which rules here do the same: Rule::seeds.
std::span<const Seed> default_catalogue();
std::span<const Seed> onnxruntime_catalogue();
/// Those that are in neither there: two for ONNX Runtime, then two for ensembles of trees.
std::span<const Seed> other_catalogue();

}  // namespace tenon::rules
