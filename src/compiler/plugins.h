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

/// The plugins of a build, and the op table that includes their ops.
struct Plugins {
  std::shared_ptr<const plugin::Registry> registry;
  const ir::OpTable* ops;
};

/// The op table with the ops of a plugin registry. It lives until the process ends. Errors: those of ops::table_with_plugins.
Result<const ir::OpTable*> table_of(const std::shared_ptr<const plugin::Registry>& registry);

/// Loads plugins by plugin::cached_registry, with an op table that lives as long. Errors: its, and those of ops::table_with_plugins.
Result<Plugins> load_plugins(std::span<const std::filesystem::path> files, const plugin::Logger& logger = {},
                             std::span<const std::shared_ptr<const plugin::Library>> more = {});

/// Constraints that prefer these kernels ("acme::FastDFT") for the ops that they compute. Errors: bad_usage for a name that is no kernel of
/// a plugin.
Result<std::vector<partition::Pin>> preferences(const plugin::Registry& plugins, std::span<const std::string> kernels);

}  // namespace tenon::compiler
