// SPDX-License-Identifier: Apache-2.0
#include "ir/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "ir/literal.h"
#include "ir/repeats.h"

namespace tenon::ir {
namespace {

class Drawing {
 public:
  Drawing(const Graph& graph, const DotOptions& options) : g_(graph), options_(options) {
    for (NodeId n : graph.nodes()) {
      place_.emplace(n, order_.size());
      order_.push_back(n);
    }
    if (options.collapse) repeats_ = find_repeats(graph, options.longest_block);
  }

  std::string text() {
    out_ = "digraph {\n  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n";
    for (ValueId v : g_.inputs()) terminal("in", v.slot(), g_.value(v).name + "\n" + g_.value(v).type.text());
    nodes();
    edges();
    for (uint32_t k = 0; k < g_.outputs().size(); ++k) {
      terminal("out", k, g_.output_name(k));
      edge(g_.outputs()[k], fmt::format("out{}", k), order_.size());
    }
    return std::move(out_) + "}\n";
  }

 private:
  /// The node that represents node number `i` in the picture.
  size_t drawn(size_t i) const {
    for (const Repeat& r : repeats_) {
      if (i >= r.first && i < r.first + r.node_count()) return r.first + (i - r.first) % r.period;
    }
    return i;
  }

  static const char* colour(const Op& op) {
    auto any = [&](std::initializer_list<std::string_view> words) {
      return std::ranges::any_of(words, [&](std::string_view w) { return op.name.find(w) != op.name.npos; });
    };
    if (any({"MatMul", "Gemm", "Conv", "Einsum", "Attention"})) return "#f4b183";
    if (any({"Norm", "Softmax", "Reduce", "Pool", "ArgM", "CumSum"})) return "#a9d18e";
    if (any({"Reshape", "Transpose", "Slice", "Concat", "Gather", "Scatter", "Split", "queeze", "Expand", "Pad", "Tile", "Flatten"}))
      return "#d9d9d9";
    if (any({"Shape", "Size", "Range", "Constant"})) return "#ffe699";
    if (op.name == "If" || any({"Loop", "Scan"})) return "#c5a5cf";
    return op.domain.empty() ? "#9dc3e6" : "#f8cbad";
  }

  /// Neighbouring numbers far apart on the colour circle (golden angle), all light enough for black letters.
  static std::string colour_of_group(std::optional<size_t> group) {
    if (!group) return "#ffffff";
    const double hue = static_cast<double>(*group) * 0.618033988749895;
    return fmt::format("{:.3f} 0.45 0.95", hue - std::floor(hue));
  }

  void node(size_t i, const char* indent) {
    const Node& n = g_.node(order_[i]);
    std::string label = n.op->domain.empty() ? n.op->name : n.op->domain + "::" + n.op->name;
    out_ += fmt::format("{}n{} [label={}, tooltip={}, fillcolor=\"{}\"];\n", indent, i, quoted(label), quoted(n.name),
                        options_.color_group ? colour_of_group(options_.color_group(order_[i])) : colour(*n.op));
  }

  void nodes() {
    for (size_t i = 0; i < order_.size(); ++i) {
      auto r = std::ranges::find(repeats_, i, &Repeat::first);
      if (r == repeats_.end()) {
        node(i, "  ");
        continue;
      }
      out_ += fmt::format("  subgraph cluster_{} {{\n    label=\"x {}\"; style=rounded; color=\"#7f7f7f\";\n", i, r->count);
      for (size_t k = i; k < i + r->period; ++k) node(k, "    ");
      out_ += "  }\n";
      i += r->node_count() - 1;
    }
  }

  void terminal(const char* kind, uint32_t number, const std::string& label) {
    out_ += fmt::format("  {}{} [label={}, shape=ellipse, fillcolor=\"#ffffff\"];\n", kind, number, quoted(label));
  }

  void edges() {
    for (size_t i = 0; i < order_.size(); ++i) {
      for (ValueId v : g_.node(order_[i]).inputs) {
        if (v) edge(v, fmt::format("n{}", drawn(i)), drawn(i));
      }
    }
  }

  /// Dashed where it runs from one block of a repeat to the next. Constants are not drawn.
  void edge(ValueId v, const std::string& to, size_t to_place) {
    const Value& value = g_.value(v);
    if (value.is_constant()) return;
    size_t from = value.producer ? drawn(place_.at(value.producer)) : 0;
    std::string name = value.producer ? fmt::format("n{}", from) : fmt::format("in{}", v.slot());
    if (!edges_.emplace(name, to).second) return;
    bool back = value.producer && from >= to_place;
    out_ += fmt::format("  {} -> {} [label={}{}];\n", name, to, quoted(value.type.text()), back ? ", style=dashed, constraint=false" : "");
  }

  const Graph& g_;
  DotOptions options_;
  std::vector<NodeId> order_;
  std::unordered_map<NodeId, size_t> place_;
  std::vector<Repeat> repeats_;
  std::set<std::pair<std::string, std::string>> edges_;
  std::string out_;
};

}  // namespace

std::string dot(const Graph& graph, const DotOptions& options) { return Drawing(graph, options).text(); }

}  // namespace tenon::ir
