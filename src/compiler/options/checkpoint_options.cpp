// SPDX-License-Identifier: Apache-2.0
#include "compiler/options/checkpoint_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compiler/options/option_table.h"

namespace tenon::compiler {
namespace {

/// A path may contain a "=": what exists is one.
Result<nn::AdapterFile> adapter_of(const std::string& text) {
  const size_t equals = text.rfind('=');
  std::error_code error;
  if (equals == text.npos || std::filesystem::exists(text, error)) return nn::AdapterFile{text, 1};
  const std::string path = text.substr(0, equals), scale = text.substr(equals + 1);
  double value = 0;
  const auto [end, failure] = std::from_chars(scale.data(), scale.data() + scale.size(), value);
  if (path.empty() || failure != std::errc() || end != scale.data() + scale.size() || !std::isfinite(value))
    return fail(Code::bad_usage, "--lora " + text, "an adapter is a file or a folder, and may have a scale")
        .expected("FILE or FILE=SCALE, a finite number")
        .found(path.empty() ? "no file" : "'" + scale + "'");
  return nn::AdapterFile{path, value};
}

}  // namespace

std::string_view CheckpointOptions::flag() const {
  if (context != 0) return "--context";
  if (!lora.empty()) return "--lora";
  if (weights != nn::StoredWeights::keep) return "--weights";
  if (kv != nn::CacheType::f32) return "--kv";
  if (activations != codegen::Activations::f32) return "--activations";
  if (batch != 1) return "--batch";
  if (window != 0) return "--window";
  if (sinks != 0) return "--sinks";
  if (!config.place.empty()) return "--build-config";
  return states.empty() ? "" : "--state";
}

Result<void> CheckpointOptions::check_numbers() const {
  const auto wrong = [](const char* option, const char* what, int64_t found) {
    return fail(Code::bad_usage, option, what).found(std::to_string(found));
  };
  if (context < 0) return wrong("--context", "a context has tokens", context).expected("a number above 0");
  if (batch < 0) return wrong("--batch", "a run has sequences", batch).expected("a number above 0, or 0 where the first run decides");
  if (window < 0)
    return wrong("--window", "a window has tokens", window).expected("a number above 0").advice("leave it out to read all tokens");
  if (sinks < 0) return wrong("--sinks", "a sequence has no such tokens", sinks).expected("0 or more").advice("4 are usual");
  if (sinks > 0 && window == 0)
    return wrong("--sinks", "sinks are what a token reads beside a window", sinks)
        .expected("--window too")
        .advice("give --window 1024, or leave --sinks out: without a window a token reads all");
  return {};
}

Result<std::vector<nn::AdapterFile>> CheckpointOptions::adapters() const {
  std::vector<nn::AdapterFile> out;
  for (const std::string& text : lora) out.push_back(TRY(adapter_of(text)));
  return out;
}

namespace {

/// The index of a choice of an option (asserted).
ptrdiff_t choice_of(std::string_view option, std::string_view name) {
  const std::vector<std::string> names = choices_of(option_row(option));
  const auto found = std::ranges::find(names, name);
  TENON_ASSERT(found != names.end());
  return found - names.begin();
}

}  // namespace

nn::StoredWeights stored_weights_named(std::string_view name) { return static_cast<nn::StoredWeights>(choice_of("weights", name)); }
std::string name_of(nn::StoredWeights weights) { return choices_of(option_row("weights"))[static_cast<size_t>(weights)]; }
nn::CacheType cache_type_named(std::string_view name) { return static_cast<nn::CacheType>(choice_of("kv", name)); }
std::string name_of(nn::CacheType type) { return choices_of(option_row("kv"))[static_cast<size_t>(type)]; }
codegen::Activations activations_named(std::string_view name) { return static_cast<codegen::Activations>(choice_of("activations", name)); }

}  // namespace tenon::compiler
