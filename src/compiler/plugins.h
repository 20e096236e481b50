// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/op.h"
#include "partition/constraints.h"
#include "plugin/public/plugins.h"

namespace tenon::compiler {

/// The plugins that somebody named, and what nodes may be with them.
struct Plugins {
  std::shared_ptr<const plugin::Registry> registry;
  const ir::OpTable* ops;
};

/// What nodes may be with the plugins of a registry, for as long as the process. Errors: those of ops::table_with_plugins.
Result<const ir::OpTable*> table_of(const std::shared_ptr<const plugin::Registry>& registry);

/// Those of plugin::cached_registry, with a table that stays as long. Errors: its, and those of ops::table_with_plugins.
Result<Plugins> kept_plugins(std::span<const std::filesystem::path> files, const plugin::Logger& logger = {},
                             std::span<const std::shared_ptr<const plugin::Library>> more = {});

/// What preferring these kernels ("acme::FastDFT") means for the ops that they compute. Errors: bad_usage for what is no kernel of a
/// plugin.
Result<std::vector<partition::Pin>> preferences(const plugin::Registry& plugins, std::span<const std::string> kernels);

}  // namespace tenon::compiler
