// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/why/why.h"

namespace tenon::cli {

/// Why a rule does not match: at the node of that name (or the one that makes a value of that name), in bodies too; over the whole graph
/// its `most` best partial matches where `node` is empty. Errors: bad_usage where nothing has the name.
Result<std::vector<rewrite::Why>> why_not(const ir::Graph& graph, const rewrite::CompiledRule& rule, const std::string& node, size_t most,
                                          const rewrite::WhyOptions& options);
nlohmann::ordered_json json_of(const rewrite::Why& why);

}  // namespace tenon::cli
