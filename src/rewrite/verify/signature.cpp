// SPDX-License-Identifier: Apache-2.0
// The signature of a rewrite, see verification.h.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ir/literal.h"
#include "rewrite/verify/verification.h"

namespace tenon::rewrite {
namespace {

constexpr int64_t kSmallConstant = 16;  ///< elements

class SignatureWriter {
 public:
  explicit SignatureWriter(const Proposal& p) : proposal_(p), text_(p.rule.name) {}

  std::string write() {
    for (NodeId node : proposal_.match.nodes) add(node);
    text_ += "=>";
    for (NodeId node : proposal_.new_nodes) add(node);
    for (const auto& [from, to] : proposal_.replacements) add(from), add(to);
    return std::move(text_);
  }

 private:
  void add(NodeId id) {
    const Node& node = proposal_.graph.node(id);
    text_ += "\n" + node.op->domain + ":" + node.op->name;
    for (const auto& [name, value] : node.attributes) text_ += fmt::format(" {}={}", name, ir::text_of(value));
    for (ValueId v : node.inputs) add(v);
    // Bodies are not part of the signature: each is verified anew.
    if (!node.bodies.empty()) text_ += fmt::format(" body of node {}", id.bits);
    text_ += "->";
    for (ValueId v : node.outputs) add(v);
  }

  void add(ValueId v) {
    if (!v) {
      text_ += " _";
      return;
    }
    const auto [known, is_new] = numbers_.emplace(v, numbers_.size());
    text_ += fmt::format(" {}", known->second);
    if (!is_new) return;
    const ir::Value& value = proposal_.graph.value(v);
    text_ += ":" + type_text(value.type);
    if (!value.is_constant()) return;
    text_ += "c";
    if (value.constant->count() > kSmallConstant) return;
    if (const Tensor* t = proposal_.graph.tensor_of(v)) text_ += ir::elements_text(*t);
  }

  static std::string type_text(const ir::Type& type) {
    std::string out(name_of(type.dtype));
    if (!type.has_rank()) return out + "*";
    for (Dim d : *type.shape) out += !d.is_number() ? 's' : d.value() == 0 ? '0' : d.value() == 1 ? '1' : 'n';
    return out;
  }

  const Proposal& proposal_;
  std::string text_;
  std::unordered_map<ValueId, size_t> numbers_;
};

}  // namespace

std::string signature(const Proposal& proposal) { return SignatureWriter(proposal).write(); }

}  // namespace tenon::rewrite
