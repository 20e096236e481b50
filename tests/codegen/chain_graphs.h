// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tenon::codegen {

/// Text of a graph of point-wise nodes over x, y: f32[4,64] and w: f32[64].
class ChainWriter {
 public:
  explicit ChainWriter(uint32_t seed) : random_(seed) {}

  std::string unary(const std::string& a) {
    static constexpr const char* kOps[] = {"Tanh", "Relu", "Sigmoid", "Neg", "Erf", "Abs"};
    return node(kOps[pick(6)], a);
  }
  std::string binary(const std::string& a, const std::string& b) {
    static constexpr const char* kOps[] = {"Add", "Mul", "Sub", "Max"};
    return node(kOps[pick(4)], a + ", " + b);
  }
  /// Onto `a` comes a number, a row, an input or an earlier value.
  std::string step(const std::string& a, const std::string& earlier) {
    if (pick(3) == 0) return unary(a);
    const std::string others[] = {"w", "x", "y", "c", earlier};
    return binary(a, others[pick(5)]);
  }
  std::string graph(const std::vector<std::string>& outputs) const {
    std::string list;
    for (const std::string& o : outputs) list += (list.empty() ? "" : ", ") + o;
    return "graph main(x: f32[4,64], y: f32[4,64], w: f32[64]) {\n  const c: f32[] = [0.75]\n" + text_ + "  return " + list + "\n}";
  }
  size_t pick(size_t n) { return random_() % n; }
  size_t nodes() const { return made_; }

 private:
  std::string node(const std::string& op, const std::string& operands) {
    const std::string name = "v" + std::to_string(made_++);
    text_ += "  " + name + " = " + op + "(" + operands + ")\n";
    return name;
  }

  std::mt19937 random_;
  std::string text_;
  size_t made_ = 0;
};

struct Text {
  std::string text;
  size_t nodes = 0;
};

inline Text chain(size_t nodes, size_t outputs) {
  ChainWriter w(1);
  std::vector<std::string> made{"x"}, results;
  while (w.nodes() < nodes) {
    made.push_back(w.step(made.back(), made[made.size() - 1 - w.pick(std::min<size_t>(made.size(), 20))]));
    if (w.nodes() % (nodes / outputs) == 0) results.push_back(made.back());
  }
  return {w.graph(results), w.nodes()};
}

inline Text tree(size_t leaves) {
  ChainWriter w(2);
  std::vector<std::string> level;
  for (size_t k = 0; k < leaves; ++k) level.push_back(w.step(w.pick(2) ? "x" : "y", "w"));
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (size_t k = 0; k + 1 < level.size(); k += 2) {
      next.push_back(w.binary(level[k], level[k + 1]));
      if (w.pick(2)) next.back() = w.unary(next.back());
    }
    if (level.size() % 2) next.push_back(level.back());
    level = std::move(next);
  }
  return {w.graph(level), w.nodes()};
}

}  // namespace tenon::codegen
