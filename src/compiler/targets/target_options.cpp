// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/target_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace tenon::compiler {

namespace {

/// The backends that may run a part of the model.
backend::Backends usable_backends(const CompileOptions& options) {
  if (!options.backends.empty()) return options.backends;
  const auto all = (options.registry ? *options.registry : default_registry()).all();
  backend::Backends out;
  std::ranges::copy_if(all, std::back_inserter(out), &backend::Backend::is_default);
  return out;
}

Result<const backend::Backend*> code_backend_named(std::string_view name, const std::string& place, const CompileOptions& options) {
  std::vector<std::string_view> known;
  std::string all;
  for (const backend::Backend* b : usable_backends(options)) {
    if (b->name() == name && (b->is_host() || b->kernel_target())) return b;
    if (!b->is_host() && !b->kernel_target()) continue;
    known.push_back(b->name());
    all.append(all.empty() ? "" : ", ").append(b->name());
  }
  const std::string near = nearest_name(name, known);
  return fail(Code::bad_usage, place, "no backend of this build that generates code has this name")
      .expected("one of: " + all)
      .found("'" + std::string(name) + "'")
      .advice(near.empty() ? "name the backend with --backend too" : "did you mean '" + near + "'?");
}

}  // namespace

Result<void> read_targets(std::span<const std::string> texts, CompileOptions& options) {
  for (const std::string& text : texts) {
    const std::string place = "--target " + text;
    const size_t equals = text.find('=');
    const codegen::Target* const target = TRY(codegen::target_named(equals == text.npos ? text : text.substr(equals + 1)));
    const backend::Backend* const named = equals == text.npos ? nullptr : TRY(code_backend_named(text.substr(0, equals), place, options));
    const bool is_host = !named || named->is_host();
    if (is_host ? options.target != nullptr : options.targets.contains(named->name()))
      return fail(Code::bad_usage, place, "this backend has a target already")
          .expected("one target a backend")
          .found(std::string(is_host ? options.target->name : options.targets.find(named->name())->second->name));
    if (is_host) options.target = target;
    else options.targets.emplace(named->name(), target);
  }
  return {};
}

}  // namespace tenon::compiler
