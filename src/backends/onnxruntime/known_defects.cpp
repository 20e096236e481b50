// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/known_defects.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "backend/known_defects.h"
#include "base/cpu.h"
#include "ops/contract/einsum_equation.h"

namespace tenon::backends::onnxruntime {

namespace {

using View = ir::NodeView;

/// Whether the size of a head is no multiple of 8, or unknown. The first operand: queries [batch, sequence, heads * size], or queries, keys
/// and values packed along the last axis.
bool has_unaligned_heads(const View& view) {
  if (view.rank(0) != 3) return false;
  const auto width = (*view.type(0).shape)[2].number();
  const int64_t heads = view.attributes->integer("num_heads", 1), kv_heads = view.attributes->integer("kv_num_heads", 1);
  const int64_t packed_heads = view.has(1) ? heads : heads + 2 * kv_heads;
  return !width || packed_heads <= 0 || *width / packed_heads % 8 != 0;
}

/// Whether the mask has one row for all queries, or that is unknown.
bool has_shared_mask_rows(const View& view) {
  if (!view.has(3) || view.rank(3) < 2 || view.rank(0) < 3) return view.has(3) && !view.type(3).has_rank();
  const auto from_end = [&](size_t input, int back) { return (*view.type(input).shape)[static_cast<size_t>(view.rank(input) - back)]; };
  return from_end(3, 2) != from_end(0, 2);
}

bool takes_double(const View& view) { return view.type(0).dtype == DType::f64; }

bool makes_double(const View& view) { return view.outputs[0].dtype == DType::f64; }
bool may_have_rank(const View& view, size_t input, int rank) {
  return view.has(input) && (!view.type(input).has_rank() || view.rank(input) == rank);
}
bool has_packed_heads(const View& view) { return may_have_rank(view, 0, 5) || may_have_rank(view, 1, 5); }
bool has_dilated_same_window(const View& view) {
  return view.attributes->text("auto_pad", "NOTSET").starts_with("SAME") &&
         std::ranges::any_of(view.attributes->ints("dilations"), [](int64_t d) { return d != 1; });
}

/// Whether sizes of the axes of the ellipsis differ between operands, or are unknown.
bool broadcasts_ellipsis(const View& view) {
  if (view.attributes->text("equation", "").find("...") == std::string::npos) return false;
  std::vector<int> ranks;
  for (const ir::Operand& o : view.inputs) {
    if (!o.type.has_rank()) return true;
    ranks.push_back(o.type.rank());
  }
  const auto equation = ops::parse_einsum(view, ranks);
  if (!equation) return false;
  std::vector<std::optional<Dim>> sizes(static_cast<size_t>(equation->labels));
  for (size_t k = 0; k < ranks.size(); ++k)
    for (size_t a = 0; a < equation->operands[k].size(); ++a) {
      std::optional<Dim>& size = sizes[static_cast<size_t>(equation->operands[k][a])];
      if (size && *size != (*view.type(k).shape)[a]) return true;
      size = (*view.type(k).shape)[a];
    }
  return false;
}

constexpr std::string_view kComputesInF32 = "it computes f64 by way of f32";

constexpr backend::KnownDefect kKnownDefects[] = {
    {"", "Attention", has_shared_mask_rows, "a mask whose rows are shared by queries"},
    {"", "Attention", makes_double, kComputesInF32},
    {"", "AveragePool", has_dilated_same_window, "a dilated window of auto_pad SAME, which it refuses when it runs"},
    {"", "BlackmanWindow", makes_double, kComputesInF32},
    {"", "ConvInteger", [](const View& v) { return backend::may_have_several_elements(v, 3); },
     "a zero point for each channel of the weights"},
    {"", "ConvInteger", [](const View& v) { return v.type(0).dtype == DType::i8 && v.type(1).dtype == DType::u8; },
     "weights of u8 beside an image of i8"},
    {"", "Einsum", broadcasts_ellipsis, "an ellipsis of other sizes in other operands"},
    {"ai.onnx.preview", "FlexAttention", makes_double, kComputesInF32},
    {"", "GRU", takes_double, "elements of f64"},
    {"", "HammingWindow", makes_double, kComputesInF32},
    {"", "LSTM", takes_double, "elements of f64"},
    {"", "MatMulInteger", [](const View& v) { return backend::may_have_several_elements(v, 2); }, "a zero point for each row"},
    {"", "MaxUnpool", [](const View& v) { return v.has(2); }, "its places are counted otherwise where the size of the result is given"},
    {"", "NonZero", [](const View& v) { return v.rank(0) == 0; }, "a scalar's result is of another shape"},
    {"", "QLinearMatMul",
     [](const View& v) { return v.rank(3) != 2 && (backend::may_have_several_elements(v, 4) || backend::may_have_several_elements(v, 5)); },
     "a scale for each column of several matrices"},
    {"", "ScatterND", [](const View& v) { return v.type(0).dtype == DType::f16 && v.attributes->text("reduction", "none") != "none"; },
     "a reduction in f16"},
    {"", "Split", backend::splits_unknown_size, "a number of parts of an unknown size"},
    {"com.microsoft", "Attention", [](const View& v) { return v.has(5) && !v.has(2); },
     "an attention_bias without a bias, at which it crashes"},
    {"com.microsoft", "Attention", [](const View& v) { return may_have_rank(v, 3, 4); }, "a mask of rank 4, which it refuses when it runs"},
    {"com.microsoft", "GroupQueryAttention", has_unaligned_heads, "heads whose size is no multiple of 8"},
    {"com.microsoft", "MatMulBnb4", [](const View& v) { return v.attributes->integer("transB", 1) == 0; }, "another shape for transB=0"},
    {"com.microsoft", "MultiHeadAttention", has_packed_heads, "packed queries, keys or values, which it refuses when it runs"},
};

/// An op that multiplies two operands, whose indices these are. saturates() finds those of u8 and i8.
struct Product {
  std::string_view domain, op;
  int left;  ///< -1: the op itself quantizes the left factor, to u8
  size_t right;
};
constexpr Product kProducts[] = {
    {"", "MatMulInteger", 0, 1},
    {"", "QLinearMatMul", 0, 3},
    {"com.microsoft", "DynamicQuantizeLSTM", -1, 1},
    {"com.microsoft", "DynamicQuantizeLSTM", -1, 2},
    {"com.microsoft", "DynamicQuantizeMatMul", -1, 1},
    {"com.microsoft", "MatMulIntegerToFloat", 0, 1},
    {"com.microsoft", "QAttention", 0, 1},
    {"com.microsoft", "QGemm", 0, 3},
};

/// Whether sums of a product of u8 and i8 may saturate in the node or its bodies: without VNNI, ONNX Runtime adds the products of two pairs
/// in 16 bits. It converts constants of i8 to u8 (session.x64quantprecision), so those are exact.
bool saturates(const ir::Graph& graph, const ir::Node& node) {
  if (cpu_features().has("avx512_vnni") || cpu_features().has("avx_vnni")) return false;
  const auto may_saturate = [&](const Product& p) {
    if (node.op->name != p.op || node.op->domain != p.domain || node.inputs.size() <= p.right) return false;
    const ir::Value& right = graph.value(node.inputs[p.right]);
    const bool unsigned_left = p.left < 0 || graph.value(node.inputs[static_cast<size_t>(p.left)]).type.dtype == DType::u8;
    return unsigned_left && right.type.dtype == DType::i8 && !right.is_constant();
  };
  if (std::ranges::any_of(kProducts, may_saturate)) return true;
  for (const ir::Body& body : node.bodies)
    for (ir::NodeId inner : body.graph->nodes())
      if (saturates(*body.graph, body.graph->node(inner))) return true;
  return false;
}

/// Whether it is a DynamicQuantizeLSTM that ONNX Runtime does not run: its weights (operands 1, 2) and zero points (9, 11) have to be
/// constants, and the zero points 0.
bool has_unsupported_quantization(const ir::Graph& graph, const ir::Node& node) {
  if (node.op->name != "DynamicQuantizeLSTM" || node.op->domain != "com.microsoft") return false;
  for (const size_t k : {1, 2, 9, 11}) {
    if (k >= node.inputs.size() || !node.inputs[k]) continue;
    const ir::Value& operand = graph.value(node.inputs[k]);
    if (!operand.is_constant()) return true;
    if (k < 9) continue;
    const Result<Tensor> zeros = ir::materialise(*operand.constant);
    for (int64_t e = 0; zeros && e < zeros->count(); ++e)
      if (zeros->integer(e) != 0) return true;
  }
  return false;
}

}  // namespace

std::string_view known_defect_in(const ir::Graph& graph, ir::NodeId node) {
  if (has_unsupported_quantization(graph, graph.node(node)))
    return "weights and zero points that are no constants, and zero points other than 0";
  if (saturates(graph, graph.node(node)))
    return "a product with i8 that comes at run time, whose sums saturate on this CPU, which has no VNNI";
  return backend::known_defect_in(kKnownDefects, graph.view(node));
}

}  // namespace tenon::backends::onnxruntime
