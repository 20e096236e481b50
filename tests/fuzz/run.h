// SPDX-License-Identifier: Apache-2.0
// Runs a graph that was accepted, on small inputs that fit it: by reference, and compiled at the lowest and the highest level. Every
// outcome but a result or one error ends the process.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "compiler/compile.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::fuzz {

constexpr int64_t kMostBytes = 16 << 10;  ///< of one tensor: a product of two such takes no second
constexpr int64_t kMostNodes = 2000;      ///< that the reference runs, turns of loops counted
constexpr size_t kMostToCompile = 40;     ///< nodes
constexpr uint64_t kMostArena = 4 << 20;
constexpr auto kMostTime = std::chrono::milliseconds(500);

/// Numbers that depend on the input alone.
class Numbers {
 public:
  explicit Numbers(std::string_view seed) {
    for (char c : seed) next(static_cast<uint64_t>(static_cast<unsigned char>(c)));
  }
  uint64_t next(uint64_t mixed = 0) {
    state_ = (state_ ^ mixed) * 0x9e3779b97f4a7c15u + 1;
    return state_ ^ (state_ >> 29);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_ = 1;
};

/// A size for each symbol, the same for all inputs; ranks 0 to 3 where none is declared.
inline std::optional<Sizes> shape_of(const ir::Type& type, Numbers& numbers, uint64_t seed) {
  Sizes shape;
  if (!type.has_rank()) {
    for (int64_t rank = numbers.below(4); rank > 0; --rank) shape.push_back(numbers.below(4));
    return shape;
  }
  for (Dim d : *type.shape) {
    const Dim size = substitute(d, [&](const DimNode& s) {
      const int64_t wanted = static_cast<int64_t>((s.id * 7919 + seed) % 5);
      return Dim(std::clamp(wanted, std::max<int64_t>(s.lower, 0), std::max<int64_t>(s.upper, 0)));
    });
    if (!size.is_number() || size.value() < 0 || size.value() > kMostBytes) return std::nullopt;
    shape.push_back(size.value());
  }
  return shape;
}

inline void fill(Tensor& t, Numbers& numbers) {
  for (int64_t i = 0; i < t.count(); ++i) {
    const int64_t n = numbers.below(8);
    if (t.dtype() == DType::string) t.mutable_strings()[static_cast<size_t>(i)] = std::string(static_cast<size_t>(n), 'a');
    else if (is_float(t.dtype())) t.set_number(i, static_cast<double>(n) * 0.75 - 2);
    else if (!is_complex(t.dtype())) t.set_integer(i, t.dtype() == DType::boolean ? n % 2 : n - 2);
  }
}

/// nullopt where an input is no tensor, or too large.
inline std::optional<std::vector<Tensor>> inputs_of(const ir::Graph& graph, std::string_view seed) {
  Numbers numbers(seed);
  const uint64_t sizes = numbers.next();
  std::vector<Tensor> out;
  for (ir::ValueId id : graph.inputs()) {
    const ir::Type& type = graph.value(id).type;
    if (type.kind != ir::Type::Kind::tensor) return std::nullopt;
    const auto shape = shape_of(type, numbers, sizes);
    if (!shape) return std::nullopt;
    auto made = Tensor::make(type.dtype == DType::none ? DType::f32 : type.dtype, *shape, kMostBytes);
    if (!made) return std::nullopt;
    fill(*made, numbers);
    out.push_back(std::move(*made));
  }
  return out;
}

inline void expect_no_fault(const Error& error) {
  if (error.code() != Code::internal) return;
  fprintf(stderr, "%s\n", error.text().c_str());
  std::abort();
}

/// Whether all goes on, as far as the reference says: what it refuses for its size is not compiled either.
inline bool runs_by_reference(const ir::Graph& graph, std::span<const Tensor> inputs) {
  int64_t nodes_left = kMostNodes;
  ops::EvaluateOptions options;
  options.byte_limit = kMostBytes;
  options.nodes_left = &nodes_left;
  const auto results = ops::evaluate(graph, inputs, options);
  if (results) return true;
  expect_no_fault(results.error());
  return false;
}

inline void run_compiled(const ir::Graph& graph, std::span<const Tensor> inputs, int opt) {
  compiler::CompileOptions options;
  options.opt = opt;
  auto compiled = compiler::compile(graph.clone(), options);
  if (!compiled) return expect_no_fault(compiled.error());
  auto engine = compiler::load_compiled(std::move(*compiled));
  if (!engine) return expect_no_fault(engine.error());
  auto context = runtime::Context::create(*engine);
  if (!context) return expect_no_fault(context.error());
  std::vector<Sizes> shapes;
  for (const Tensor& t : inputs) shapes.push_back(t.shape());
  const auto bytes = (*context)->planned_bytes(shapes);
  if (bytes && bytes->peak(1) > kMostArena) return;
  runtime::RunOptions how;
  how.threads = 1;
  how.deadline = std::chrono::steady_clock::now() + kMostTime;
  if (const auto results = (*context)->run(inputs, how); !results) expect_no_fault(results.error());
}

inline size_t nodes_of(const ir::Graph& graph) {
  size_t count = 0;
  for (ir::NodeId id : graph.nodes()) {
    ++count;
    for (const ir::Body& body : graph.node(id).bodies) count += nodes_of(*body.graph);
  }
  return count;
}

/// The reference turns a loop as often as it says; the runtime stops in time.
inline bool has_loops(const ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    if (graph.node(id).is("Loop")) return true;
    for (const ir::Body& body : graph.node(id).bodies)
      if (has_loops(*body.graph)) return true;
  }
  return false;
}

inline void run(const ir::Graph& graph, std::string_view seed) {
  const auto inputs = inputs_of(graph, seed);
  if (!inputs || nodes_of(graph) > kMostToCompile || !(has_loops(graph) || runs_by_reference(graph, *inputs))) return;
  for (int opt : {0, 3}) run_compiled(graph, *inputs, opt);
}

}  // namespace tenon::fuzz
