// SPDX-License-Identifier: Apache-2.0
// Convolutions with what follows them in one op.
#include <limits>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/last_axis_slice.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_conv {
using namespace rewrite;
namespace {

struct Fused {
  NodeId conv;
  ValueId other;  ///< added before the activation
  ir::Floats parameters;
};

/// The attributes of FusedConv for the activation; nullopt where its bounds are not known.
std::optional<ir::Floats> parameters_of(const Match& m, NodeId node) {
  const Node& n = m.node(node);
  if (n.is("LeakyRelu")) return ir::Floats{n.attributes.number("alpha", 0.01f)};
  if (n.is("HardSigmoid")) return ir::Floats{n.attributes.number("alpha", 0.2f), n.attributes.number("beta", 0.5f)};
  if (!n.is("Clip")) return ir::Floats{};
  ir::Floats bounds{std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()};
  for (size_t k : {1, 2}) {
    const ValueId bound = m.operand(node, k);
    const auto number = bound ? m.number(bound) : std::nullopt;
    if (bound && !number) return std::nullopt;
    if (bound) bounds[k - 1] = static_cast<float>(*number);
  }
  return bounds;
}

bool activated_conv(Match& m) {
  const ValueId x = m.operand(m.root(), 0);
  if (!x || m.dtype(x) != DType::f32 || !m.same_type(x, m.result(m.root()))) return false;
  const auto parameters = parameters_of(m, m.root());
  if (!parameters) return m.refuse("a bound is not constant");
  if (const NodeId conv = m.take(x, "Conv")) { return m.accept(Fused{conv, {}, *parameters}); }
  const NodeId add = m.take(x, "Add");
  for (size_t k : {0, 1}) {
    if (!add || !m.same_type(m.operand(add, 0), m.operand(add, 1))) break;
    const NodeId conv = m.producer(m.operand(add, k), "Conv");
    if (!conv || m.use_count(m.result(conv)) != 1) continue;
    m.take(conv);
    return m.accept(Fused{conv, m.operand(add, 1 - k), *parameters});
  }
  return false;
}

bool to_fused_conv(const Match& m, Rewriter& w) {
  const Fused& found = m.state<Fused>();
  std::vector<ValueId> inputs = m.node(found.conv).inputs;
  if (found.other) {
    inputs.resize(3);
    inputs.push_back(found.other);
  }
  std::vector<std::pair<std::string, ir::Attribute>> how{{"activation", std::string(m.node(m.root()).op->name)}};
  if (!found.parameters.empty()) how.emplace_back("activation_params", found.parameters);
  for (const auto& [name, value] : m.node(found.conv).attributes) how.emplace_back(name, value);
  return replace_root(m, w, w("com.microsoft::FusedConv", std::move(inputs), std::move(how)));
}

/// A depthwise convolution over the past and the present along the only spatial axis.
struct Causal {
  NodeId concat, conv, state;  ///< state: the Slice that keeps the end, may be none
};

/// Slice along axis 2 that keeps the last `count` elements, counted from either end.
bool keeps_end(const Match& m, NodeId slice, int64_t count) {
  const ValueId line = m.operand(slice, 0);
  const auto start = single_integer(m, m.operand(slice, 1), std::nullopt), end = single_integer(m, m.operand(slice, 2), std::nullopt),
             axis = single_integer(m, m.operand(slice, 3), 0), step = single_integer(m, m.operand(slice, 4), 1);
  if (!start || !end || (axis != 2 && axis != -1) || step != 1 || m.rank(line) != 3) return false;
  const int64_t size = last_axis_size(m, line).value_or(int64_t{1} << 40);
  return *end >= size && (*start == -count || *start == size - count);
}

bool is_plain_depthwise(const Match& m, NodeId conv) {
  const ir::Attributes& a = m.node(conv).attributes;
  const DimList *x = m.shape(m.operand(conv, 0)), *k = m.shape(m.operand(conv, 1));
  const auto ones = [&](std::string_view name) { return a.ints(name, {1}) == ir::Ints{1}; };
  return x && k && x->size() == 3 && (*k)[0].is_number() && (*k)[1].known_equal(1) && (*k)[2].is_number() && (*x)[1].known_equal((*k)[0]) &&
         a.integer("group", 1) == (*k)[0].value() && ones("strides") && ones("dilations") && a.ints("pads", {0, 0}) == ir::Ints{0, 0} &&
         a.text("auto_pad", "NOTSET") == "NOTSET" && m.dtype(m.operand(conv, 0)) == DType::f32;
}

bool causal_conv(Match& m) {
  if (!is_plain_depthwise(m, m.root())) return false;
  const ValueId line = m.operand(m.root(), 0);
  const NodeId concat = m.take(line, "Concat");
  if (!concat || m.node(concat).inputs.size() != 2 || m.axis(concat, "axis", 0, line) != 2) return false;
  const int64_t before = (*m.shape(m.operand(m.root(), 1)))[2].value() - 1;
  const DimList* past = m.shape(m.operand(concat, 0));
  if (!past || !(*past)[2].known_equal(before)) return m.refuse("the past is not as long as the kernel less one");
  Causal found{concat, m.root(), {}};
  for (const ir::Use& use : m.value(line).uses)
    if (use.node && m.node(use.node).is("Slice") && keeps_end(m, use.node, before)) found.state = use.node;
  if (found.state) {
    m.take(found.state);
    m.other_roots.push_back(found.state);
  }
  return m.accept(found);
}

bool to_causal_conv(const Match& m, Rewriter& w) {
  const Causal& found = m.state<Causal>();
  const auto results =
      w.many("com.microsoft::CausalConvWithState",
             {m.operand(found.concat, 1), m.operand(found.conv, 1), m.operand(found.conv, 2), m.operand(found.concat, 0)}, 2);
  w.replace(m.result(found.conv), results[0]);
  if (found.state) w.replace(m.result(found.state), results[1]);
  return true;
}

bool same_attributes(Match& m) { return m.dtype(m.operand(m.root(), 0)) == DType::f32; }

bool in_contrib_domain(const Match& m, Rewriter& w) {
  const Node& node = m.node(m.root());
  return replace_root_results(m, w,
                              w.many("com.microsoft::" + node.op->name, node.inputs, node.outputs.size(), attributes_except(node, {})));
}

}  // namespace

RULES(onnxruntime_conv) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "fused_conv",
             .docs = "an activation after a convolution, with or without a summand of the same shape between them",
             .roots = "Relu Clip Tanh Sigmoid LeakyRelu HardSigmoid",
             .match = activated_conv,
             .rewrite = to_fused_conv,
             .numerics = Numerics::reassociating,
             .benefit = 5,
             .covered_patterns = "FusedConv"},
            {.name = "causal_conv",
             .docs = "a depthwise convolution over the past and the present of a line, and the end of it that is the next past",
             .roots = "Conv",
             .match = causal_conv,
             .rewrite = to_causal_conv,
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .covered_patterns = "CausalConvWithState"},
            {.name = "causal_conv_silu",
             .docs = "the activation that the op supports",
             .equation =
                 "Swish(com.microsoft::CausalConvWithState(?x, ?w, ?b?, ?p?, activation=\"none\", channels_last=0, dilation=1, ndim=1,"
                 " state_window=0), alpha=1) => com.microsoft::CausalConvWithState(?x, ?w, ?b, ?p, activation=\"silu\")",
             .numerics = Numerics::reassociating,
             .benefit = 6,
             .covered_patterns = "CausalConvWithState"},
            {.name = "recurrent_ops",
             .docs =
                 "LinearAttention and CausalConvWithState of opset 27 are ONNX Runtime's own ops of the same names, which it has for longer",
             .roots = "LinearAttention CausalConvWithState",
             .match = same_attributes,
             .rewrite = in_contrib_domain,
             .benefit = 4,
             .covered_patterns = "LinearAttention CausalConvWithState"},
        },
};

}  // namespace tenon::rules::onnxruntime_conv
