// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/in_precision.h"

#include <algorithm>

#include "base/blocks/panel_words.h"
#include "codegen/analysis/in_blocks.h"

namespace tenon::cli {

namespace {

constexpr int64_t kRunOfRows = 32;
constexpr std::string_view kProductKinds[] = {"MatMul", "Gemm", "Conv", "FusedMatMul", "FusedConv"};

/// Adds nodes before another one.
class NodesBefore {
 public:
  NodesBefore(ir::Graph& graph, ir::NodeId before) : graph_(graph), before_(before) {}

  Result<ir::ValueId> operator()(std::string_view op, std::vector<ir::ValueId> operands, ir::Attributes attributes = {}) const {
    const ir::NodeId node = graph_.insert(*graph_.ops().find("", op), std::move(operands), 1, std::move(attributes), before_);
    TRY(ir::infer(graph_, node));
    return graph_.node(node).outputs[0];
  }
  ir::ValueId constant(Tensor value) const { return graph_.add_constant(ir::constant_of(std::move(value))); }
  ir::ValueId number(float value) const { return constant(Tensor::of_f32({}, {&value, 1})); }

  Result<ir::ValueId> through_bf16(ir::ValueId value) const {
    const auto cast = [&](ir::ValueId from, DType to) {
      ir::Attributes how;
      how.set("to", static_cast<int64_t>(to));
      return (*this)("Cast", {from}, std::move(how));
    };
    return cast(TRY(cast(value, DType::bf16)), DType::f32);
  }

  /// Each run of elements along the last dimension becomes codes of i8 times their scale, as codegen/prepare/round_rows.h says.
  Result<ir::ValueId> through_bytes(ir::ValueId value, int64_t run) const {
    const DimList shape = *graph_.value(value).type.shape;  // a copy: new nodes move values
    const auto shaped = [&](ir::ValueId of, std::vector<int64_t> last) {
      std::vector<int64_t> sizes(shape.size() - 1, 0);  // 0: as it is
      sizes.insert(sizes.end(), last.begin(), last.end());
      return (*this)("Reshape", {of, constant(Tensor::of_i64({static_cast<int64_t>(sizes.size())}, sizes))});
    };
    const ir::ValueId runs = TRY(shaped(value, {-1, run}));
    ir::Attributes keep;
    keep.set("keepdims", int64_t{1});
    const int64_t last = static_cast<int64_t>(shape.size());
    const ir::ValueId magnitude = TRY((*this)("ReduceMax", {TRY((*this)("Abs", {runs})), constant(Tensor::of_i64({1}, {&last, 1}))}, keep));
    const ir::ValueId some = TRY((*this)("Max", {magnitude, number(1e-30F)}));
    const ir::ValueId codes = TRY((*this)("Round", {TRY((*this)("Mul", {runs, TRY((*this)("Div", {number(127), some}))}))}));
    const ir::ValueId rounded = TRY((*this)("Mul", {codes, TRY((*this)("Div", {magnitude, number(127)}))}));
    return shaped(rounded, {shape.back().value()});
  }

 private:
  ir::Graph& graph_;
  ir::NodeId before_;
};

bool is_product(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& n = graph.node(id);
  if (std::ranges::find(kProductKinds, n.op->name) == std::end(kProductKinds) || n.inputs.size() < 2) return false;
  const ir::Value &a = graph.value(n.inputs[0]), &b = graph.value(n.inputs[1]);
  return a.type.dtype == DType::f32 && b.type.dtype == DType::f32 && (a.is_constant() || b.is_constant());
}

/// Products whose matrix may be in blocks.
bool multiplies_rows(const ir::Node& n) {
  const bool rows =
      n.op->name == "MatMul" || n.op->name == "MatMulNBits" || (n.op->name == "Gemm" && n.attributes.integer("transA", 0) == 0);
  return rows && n.inputs.size() > 1;
}

/// Elements of a group of weights that an op of ONNX unpacks; 0: it is none.
int64_t group_of(const ir::Node& n) {
  return n.op->name == "MatMulNBits" || n.op->name == "DequantizeLinear" ? n.attributes.integer("block_size", 0) : 0;
}

/// Neighbours that share a scale where rows beside this product's matrix are rounded to bytes; nullopt: the matrix is not in blocks along
/// the depth.
std::optional<int64_t> run_of_rows(const ir::Graph& graph, const ir::Node& n) {
  const ir::Value &rows = graph.value(n.inputs[0]), &matrix = graph.value(n.inputs[1]);
  if (!multiplies_rows(n) || !rows.type.has_rank() || rows.type.shape->empty() || !rows.type.shape->back().is_number()) return std::nullopt;
  std::optional<int64_t> run;
  if (const int64_t group = group_of(matrix.producer ? graph.node(matrix.producer) : n); group > 0) {
    if (group % kRunOfRows == 0) run = kRunOfRows;
  } else if (const auto blocks = matrix.is_constant() ? codegen::in_blocks(matrix.constant) : std::nullopt) {
    const int depth = n.attributes.integer("transB", 0) != 0 ? 1 : 0;
    if (blocks->axis == depth && blocks->format->linear) run = rounded_run(*blocks->format);
  }
  return run && rows.type.shape->back().value() % *run == 0 ? run : std::nullopt;
}

Result<void> round_operands(ir::Graph& graph, ir::NodeId id, const ProductRounding& rounding) {
  const NodesBefore build(graph, id);
  const ir::Node& node = graph.node(id);
  const ir::ValueId operands[] = {node.inputs[0], node.inputs[1]};
  const auto run = rounding.activations == codegen::Activations::f32 ? std::nullopt : run_of_rows(graph, node);
  const bool is_matrix_float = graph.value(operands[1]).type.dtype == DType::f32;
  if (run && rounding.activations == codegen::Activations::i8) {
    graph.set_operand(id, 0, TRY(build.through_bytes(operands[0], *run)));
    return {};
  }
  if (!run && !(is_product(graph, id) && rounding.precision == codegen::Precision::bf16)) return {};
  for (const uint32_t slot : {0U, 1U})
    if (slot == 0 || is_matrix_float) graph.set_operand(id, slot, TRY(build.through_bf16(operands[slot])));
  return {};
}

}  // namespace

Result<std::unique_ptr<ir::Graph>> in_precision(const ir::Graph& graph, const ProductRounding& rounding) {
  auto copy = graph.clone();
  if (!rounding.rounds()) return copy;
  for (const ir::NodeId id : graph.nodes())
    if (is_product(graph, id) || multiplies_rows(graph.node(id))) TRY(round_operands(*copy, id, rounding));
  return copy;
}

bool rounds_to_bytes(const ir::Graph& graph) {
  const auto dtype = [&](ir::ValueId v) { return v ? graph.value(v).type.dtype : DType::none; };
  const auto is_byte = [&](ir::ValueId v) { return is_integer(dtype(v)) && bits_of(dtype(v)) <= 8; };
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& n = graph.node(id);
    const bool here =
        std::ranges::any_of(n.inputs, [&](ir::ValueId v) { return is_float(dtype(v)); }) && std::ranges::any_of(n.outputs, is_byte);
    if (here || std::ranges::any_of(n.bodies, [](const ir::Body& b) { return rounds_to_bytes(*b.graph); })) return true;
  }
  return false;
}

}  // namespace tenon::cli
