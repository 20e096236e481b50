// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/elementwise.h"

#include <string>

namespace tenon::rules {
namespace {

bool has_op(std::string_view list, const ir::Node& node) {
  if (!node.op->domain.empty()) return false;
  const std::string_view name = node.op->name;
  for (size_t at = list.find(name); at != list.npos; at = list.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

bool is_unary(const ir::Node& node) { return has_op(kUnaryOps, node) && node.outputs.size() == 1; }

bool is_binary(const ir::Node& node) { return has_op(kBinaryOps, node) && node.explicit_inputs == 2 && node.inputs[0] && node.inputs[1]; }

bool is_elementwise(const ir::Node& node) {
  if (has_op(kBroadcastOps, node)) return node.outputs.size() == 1;
  return is_unary(node) || (has_op(kBinaryOps, node) && node.outputs.size() == 1);
}

}  // namespace tenon::rules
