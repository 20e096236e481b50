// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <span>

#include "ir/op.h"
#include "plugin/registry.h"

namespace tenon::compiler {

/// The plugins that somebody named, and what nodes may be with them.
struct Plugins {
  std::shared_ptr<const plugin::Registry> registry;
  std::shared_ptr<const ir::OpTable> ops;  ///< outlives every graph and engine that is made with it
};

/// Errors: those of plugin::Registry::load and ops::table_with_plugins.
Result<Plugins> load_plugins(std::span<const std::filesystem::path> files, const plugin::LoadOptions& options = {});

}  // namespace tenon::compiler
