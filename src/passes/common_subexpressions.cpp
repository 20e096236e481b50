// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "ops/core/random_streams.h"
#include "passes/passes.h"
#include "rewrite/driver/listener_scope.h"
#include "rewrite/driver/replace.h"

namespace tenon::passes {
namespace {

using ir::NodeId;
using ir::ValueId;

constexpr int64_t kComparedBytes = 65536;  ///< larger constants are not compared by bytes
size_t mix(size_t seed, size_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed >> 29); }

size_t hash_of(const ir::Constant& c) {
  size_t h = mix(static_cast<size_t>(c.dtype), c.shape.size());
  for (int64_t s : c.shape) h = mix(h, static_cast<size_t>(s));
  const auto* plain = std::get_if<Tensor>(&c.source);
  if (!plain) return mix(h, reinterpret_cast<size_t>(&c));
  if (plain->byte_size() > kComparedBytes || c.dtype == DType::string) return mix(h, reinterpret_cast<size_t>(plain->data()));
  return mix(h, std::hash<std::string_view>{}({reinterpret_cast<const char*>(plain->data()), static_cast<size_t>(plain->byte_size())}));
}

/// Whether two constants are known to be equal: small ones are compared by bytes, large ones are equal only where they share memory.
bool equal(const ir::Constant& a, const ir::Constant& b) {
  if (&a == &b) return true;
  if (a.dtype != b.dtype || a.shape != b.shape || !a.is_plain() || !b.is_plain() || a.dtype == DType::string) return false;
  const Tensor &x = std::get<Tensor>(a.source), &y = std::get<Tensor>(b.source);
  if (x.data() == y.data()) return true;
  return x.byte_size() <= kComparedBytes && std::memcmp(x.data(), y.data(), static_cast<size_t>(x.byte_size())) == 0;
}

/// A hash set of ids with open addressing. It has its final size from the start: growing, or a heap node for each entry, would cost more
/// than the hashing.
template <class Id>
class UniqueTable {
 public:
  explicit UniqueTable(size_t most) {
    size_t size = 16;
    while (size < 2 * most) size *= 2;
    slots_.resize(size);
  }
  /// The id of an equal item that was added before; none where there is none, and then `id` is added.
  template <class Same>
  Id find_or_add(size_t hash, Id id, Same same) {
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      auto& [known, h] = slots_[at];
      if (!known) {
        slots_[at] = {id, hash};
        return {};
      }
      if (h == hash && same(known)) return known;
    }
  }

 private:
  std::vector<std::pair<Id, size_t>> slots_;
};

class HashConsing {
 public:
  HashConsing(Graph& graph, const rewrite::NameSet& keep) : graph_(graph), keep_(keep), journal_(graph), scope_(graph, &journal_) {}

  bool constants() {
    bool changed = false;
    std::vector<ValueId> constants = graph_.values();
    std::erase_if(constants, [&](ValueId v) { return !graph_.value(v).is_constant() || keep_.contains(graph_.value(v).name); });
    UniqueTable<ValueId> unique(constants.size());
    for (ValueId v : constants) {
      const ir::Constant& constant = *graph_.value(v).constant;
      const ValueId twin = unique.find_or_add(hash_of(constant), v, [&](ValueId k) { return equal(*graph_.value(k).constant, constant); });
      if (!twin || !graph_.replace_all_uses(v, twin)) continue;
      graph_.erase_value(v);
      changed = true;
    }
    return changed;
  }

  bool nodes() {
    bool changed = false;
    UniqueTable<NodeId> unique(graph_.node_count());
    for (NodeId id : graph_.nodes()) {
      const ir::Node& node = graph_.node(id);
      if (!node.op->deterministic || node.op->has_effects || !node.bodies.empty() || rewrite::is_kept(graph_, id, keep_)) continue;
      if (ops::is_random(graph_, id)) continue;
      const NodeId twin = unique.find_or_add(hash(node), id, [&](NodeId k) { return equal(graph_.node(k), node); });
      if (twin) changed |= join(id, twin);
    }
    return changed;
  }

 private:
  static std::pair<ValueId, ValueId> first_two(const ir::Node& node) {
    const ValueId a = node.inputs[0], b = node.inputs[1];
    return a.bits <= b.bits ? std::pair(a, b) : std::pair(b, a);
  }
  static bool swappable(const ir::Node& node) { return node.op->commutative && node.inputs.size() >= 2; }

  static size_t hash(const ir::Node& node) {
    size_t h = mix(reinterpret_cast<size_t>(node.op), node.outputs.size());
    size_t i = 0;
    if (swappable(node)) {
      const auto [a, b] = first_two(node);
      h = mix(mix(h, a.bits), b.bits);
      i = 2;
    }
    for (; i < node.inputs.size(); ++i) h = mix(h, node.inputs[i].bits);
    for (const auto& [name, value] : node.attributes) h = mix(mix(h, std::hash<std::string>{}(name)), ir::hash_of(value));
    return h;
  }

  static bool equal(const ir::Node& a, const ir::Node& b) {
    if (a.op != b.op || a.outputs.size() != b.outputs.size() || !(a.attributes == b.attributes) || a.inputs.size() != b.inputs.size())
      return false;
    if (!ir::same_placement(a, b)) return false;
    for (size_t i = 0; i < a.outputs.size(); ++i)
      if (!a.outputs[i] != !b.outputs[i]) return false;
    if (a.inputs == b.inputs) return true;
    return swappable(a) && first_two(a) == first_two(b) && std::equal(a.inputs.begin() + 2, a.inputs.end(), b.inputs.begin() + 2);
  }
  static bool equal(const ir::Constant& a, const ir::Constant& b) { return passes::equal(a, b); }

  bool join(NodeId twin, NodeId kept) {
    journal_.begin();
    for (size_t i = 0; i < graph_.node(twin).outputs.size(); ++i) {
      const ValueId from = graph_.node(twin).outputs[i], to = graph_.node(kept).outputs[i];
      if (!from || graph_.value(from).uses.empty()) continue;
      if (rewrite::try_replace_all_uses(graph_, from, to, journal_).empty()) continue;
      journal_.undo();
      return false;
    }
    graph_.erase(twin);
    return true;
  }

  Graph& graph_;
  const rewrite::NameSet& keep_;
  rewrite::Journal journal_;
  rewrite::ListenerScope scope_;
};

}  // namespace

Result<bool> common_subexpressions(Graph& graph, Context& context) {
  bool changed = false;
  {
    HashConsing consing(graph, context.options.rewriting.keep);
    changed |= consing.constants();
    changed |= consing.nodes();
  }
  for (ir::NodeId node : graph.nodes())
    for (size_t i = 0; i < graph.node(node).bodies.size(); ++i) changed |= TRY(common_subexpressions(graph.body(node, i), context));
  return changed;
}

}  // namespace tenon::passes
