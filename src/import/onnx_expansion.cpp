// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_expansion.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/checked.h"

namespace tenon::import {
namespace {

constexpr int64_t kGrowth = 256, kAlways = 1 << 20;

/// The size of a list of nodes after expansion of functions.
struct Size {
  int64_t values = 0;  ///< INT64_MAX: more than that
  int levels = 0;      ///< of calls
};

class Expansion {
 public:
  Expansion(const FunctionTable& functions, const ir::OpTable& ops, const OnnxLimits& limits)
      : functions_(functions), ops_(ops), limits_(limits) {}

  Result<Size> nodes(const std::vector<OnnxNode>& list, int level) {
    Size sum;
    for (const OnnxNode& node : list) {
      const int64_t own = 1 + static_cast<int64_t>(node.outputs.size());
      in_file_ += own;
      sum.values = plus(sum.values, own);
      for (const OnnxAttribute& a : node.attributes)
        if (a.graph) add(sum, TRY(nodes(a.graph->nodes, level)));
      if (op_of(node, ops_, functions_)) continue;
      if (const OnnxFunction* f = functions_.find(node)) add(sum, TRY(call(*f, node, level + 1)));
    }
    return sum;
  }
  int64_t limit() const { return std::min(limits_.values, std::max(kAlways, kGrowth * in_file_)); }

 private:
  static int64_t plus(int64_t a, int64_t b) { return checked_add(a, b).value_or(INT64_MAX); }
  static void add(Size& sum, const Size& part) {
    sum.values = plus(sum.values, part.values);
    sum.levels = std::max(sum.levels, part.levels);
  }

  Result<Size> call(const OnnxFunction& f, const OnnxNode& node, int level) {
    if (level > limits_.function_depth) return too_deep(node);
    const auto [at, fresh] = known_.try_emplace(&f);
    if (fresh) {
      Size size = TRY(nodes(f.nodes, level));
      ++size.levels;
      at->second = size;
    }
    // Nothing inside is a call that has not come back yet: the function calls itself.
    if (at->second.levels == 0 || level - 1 + at->second.levels > limits_.function_depth) return too_deep(node);
    return at->second;
  }

  Error too_deep(const OnnxNode& node) const {
    return fail(Code::limit_exceeded, fmt::format("node '{}' ({})", node.name, qualified(node.domain, node.op)),
                "functions call functions too deeply, or themselves")
        .expected(fmt::format("at most {} levels", limits_.function_depth))
        .found("more")
        .advice("look for a function that calls itself; ONNX forbids that");
  }

  const FunctionTable& functions_;
  const ir::OpTable& ops_;
  const OnnxLimits& limits_;
  std::map<const OnnxFunction*, Size> known_;
  int64_t in_file_ = 0;
};

}  // namespace

Result<void> check_expansion(const OnnxModel& model, const FunctionTable& functions, const ir::OpTable& ops, const OnnxLimits& limits,
                             std::string_view file) {
  Expansion expansion(functions, ops, limits);
  const Size size = TRY(expansion.nodes(model.graph.nodes, 0));
  if (size.values <= expansion.limit()) return {};
  return fail(Code::limit_exceeded, std::string(file), "the model's functions expand to too many nodes and values")
      .expected(fmt::format("at most {}", expansion.limit()))
      .found(size.values == INT64_MAX ? "2^63 or more" : std::to_string(size.values))
      .advice("look for functions that call each other many times over");
}

}  // namespace tenon::import
