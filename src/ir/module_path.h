// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace tenon::ir {

/// The module of the source network that a node is in: "encoder/layer.0"; empty: unknown, or the nodes that it was made of are
/// in several. By what PyTorch's exporter says (pkg.torch.onnx.name_scopes), else by the node's name ("/encoder/layer.0/MatMul").
std::string module_of(const Node& node);

/// Whether a module is `prefix` or inside it, by whole components: "/a/b" and "a.b" are one.
bool is_in_module(std::string_view module, std::string_view prefix);
/// How many components a path has.
size_t module_depth(std::string_view path);

}  // namespace tenon::ir
