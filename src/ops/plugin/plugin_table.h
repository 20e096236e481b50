// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "ir/op.h"
#include "plugin/registry.h"

namespace tenon::ops {

/// A table of Tenon's ops and those of plugins, under "namespace::Name"; of several versions of an op it has the newest. An op of a plugin
/// library is the same one in all tables, and stays until the process ends.
/// Errors: those of table_with; bad_file for a definition that does not parse, or names an op that does not exist.
Result<std::shared_ptr<const ir::OpTable>> table_with_plugins(std::shared_ptr<const plugin::Registry> plugins);

/// The name, in nodes, of an op that is not the newest of its versions: "Swish$1".
std::string name_of_older(const plugin::Op& op);

}  // namespace tenon::ops
