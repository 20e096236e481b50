// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace tenon::ir {

/// The path of the module of the source network that contains a node: "encoder/layer.0"; empty: unknown, or its source nodes are in several
/// modules. From metadata of PyTorch's exporter (pkg.torch.onnx.name_scopes), else from the node's name ("/encoder/layer.0/MatMul").
std::string module_of(const Node& node);

/// Whether a module is `prefix` or inside it, by whole components. "/a/b" and "a.b" are equal.
bool is_in_module(std::string_view module, std::string_view prefix);
/// The number of components of a path.
size_t module_depth(std::string_view path);

}  // namespace tenon::ir
