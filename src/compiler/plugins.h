// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <span>

#include "ir/op.h"
#include "plugin/kept.h"

namespace tenon::compiler {

/// The plugins that somebody named, and what nodes may be with them.
struct Plugins {
  std::shared_ptr<const plugin::Registry> registry;
  const ir::OpTable* ops;
};

/// Those of plugin::kept_registry, with a table that stays as long. Errors: its, and those of ops::table_with_plugins.
Result<Plugins> kept_plugins(std::span<const std::filesystem::path> files, const plugin::Logger& logger = {});

}  // namespace tenon::compiler
