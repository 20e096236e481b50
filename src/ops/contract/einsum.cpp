// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/builder.h"
#include "ops/contract/einsum_equation.h"
#include "ops/contract/product.h"
#include "ops/form/loops.h"
#include "ops/infer/broadcast.h"
#include "ops/reference/indices.h"
#include "ops/reference/integers.h"

namespace tenon::ops::op_einsum {

namespace {

struct Labelled {
  EinsumEquation equation;
  DimList sizes;  ///< of each label
};

Result<Labelled> labelled(const NodeView& view) {
  std::vector<int> ranks;
  for (const ir::Operand& o : view.inputs) ranks.push_back(o.type.rank());
  Labelled l{TRY(parse_einsum(view, ranks)), {}};
  l.sizes.assign(l.equation.labels, Dim(1));
  for (size_t k = 0; k < view.inputs.size(); ++k) {
    for (size_t a = 0; a < l.equation.operands[k].size(); ++a) {
      const std::vector<int>& labels = l.equation.operands[k];
      Dim& size = l.sizes[labels[a]];
      const Dim here = view.type(k).dim(static_cast<int>(a));
      const auto first = std::find(labels.begin(), labels.end(), labels[a]) - labels.begin();
      if (first < static_cast<ptrdiff_t>(a))
        TRY(require_equal(view, view.type(k).dim(static_cast<int>(first)), here, "sizes of a diagonal of operand " + std::to_string(k)));
      size = TRY(broadcast(view, DimList{size}, DimList{here}))[0];
    }
  }
  return l;
}

bool all_ranks_known(const NodeView& view) {
  return std::all_of(view.inputs.begin(), view.inputs.end(), [](const ir::Operand& o) { return o.present && o.type.has_rank(); });
}

Result<void> infer(NodeView& view) {
  for (size_t k = 0; k < view.inputs.size(); ++k) {
    TRY(require_dtype(view, k, is_number, "a number type"));
    TRY(require_same_dtype(view, 0, k));
  }
  Type out(dtype_of(view, 0));
  if (all_ranks_known(view)) {
    const Labelled l = TRY(labelled(view));
    out.shape.emplace();
    for (int label : l.equation.output) out.shape->push_back(l.sizes[label]);
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Labelled l = TRY(labelled(view));
  Loop loop;
  std::vector<Expr> axis_of(l.equation.labels);
  for (int label : l.equation.output) {
    if (axis_of[label]) return refuse(view, Code::not_supported, "not supported yet: a label that is repeated in the output");
    axis_of[label] = Expr::axis(static_cast<int>(loop.axes.size()));
    loop.axes.push_back({Axis::Kind::parallel, l.sizes[label]});
  }
  for (int label = 0; label < l.equation.labels; ++label) {
    if (axis_of[label]) continue;
    axis_of[label] = Expr::axis(static_cast<int>(loop.axes.size()));
    loop.axes.push_back({Axis::Kind::reduced, l.sizes[label]});
  }
  Expr product;
  for (size_t k = 0; k < view.inputs.size(); ++k) {
    std::vector<Expr> index;
    for (size_t a = 0; a < l.equation.operands[k].size(); ++a) {
      const int label = l.equation.operands[k][a];
      const Dim here = view.type(k).dim(static_cast<int>(a));
      if (here.known_equal(1)) index.push_back(index_constant(0));
      else if (here.known_equal(l.sizes[label])) index.push_back(axis_of[label]);
      else index.push_back(axis_of[label] * size_expr(less_than(1, here)));
    }
    const Expr x = to_compute_dtype(load(loop, operand_access(view, k, std::move(index))));
    product = product ? product * x : x;
  }
  return contraction_form(std::move(loop), product, view.outputs[0].dtype, *view.outputs[0].shape);
}

Result<void> evaluate(Call& call) {
  std::vector<int> ranks;
  for (const Tensor* t : call.in) ranks.push_back(t->rank());
  const EinsumEquation e = TRY(parse_einsum(call.view, ranks));
  Sizes sizes(e.labels, 1);
  for (size_t k = 0; k < call.in.size(); ++k)
    for (size_t a = 0; a < e.operands[k].size(); ++a)
      if (const int64_t n = call.in[k]->shape()[a]; n != 1) sizes[e.operands[k][a]] = n;
  auto steps_of = [&](const std::vector<int>& labels, const Sizes& shape) {
    Sizes steps(e.labels, 0);
    const Sizes strides = strides_of(shape);
    for (size_t a = 0; a < labels.size(); ++a)
      if (shape[a] != 1) steps[labels[a]] += strides[a];
    return steps;
  };
  Sizes shape;
  for (int label : e.output) shape.push_back(sizes[label]);
  Tensor& y = *TRY(call.make(0, shape));
  const Sizes to = steps_of(e.output, shape);
  std::vector<Sizes> from;
  for (size_t k = 0; k < call.in.size(); ++k) from.push_back(steps_of(e.operands[k], call.in[k]->shape()));
  auto run = [&](auto data, auto multiply, auto add) {
    using T = typename decltype(data)::value_type::value_type;
    std::vector<T> sum(y.count());
    Sizes at(e.labels, 0);
    const bool sums = count_of(sizes) != y.count();  // else each result is a product, which may be -0
    if (count_of(sizes) > 0) {
      do {
        T product = 1;
        for (size_t k = 0; k < data.size(); ++k) product = multiply(product, data[k][offset_of(at, from[k])]);
        T& target = sum[offset_of(at, to)];
        target = sums ? add(target, product) : product;
      } while (next_index(at, sizes));
    }
    return sum;
  };
  if (is_float(y.dtype())) {
    std::vector<std::vector<double>> data;
    for (const Tensor* t : call.in) data.push_back(numbers_of(*t));
    store_numbers(y, run(data, [](double a, double b) { return a * b; }, [](double a, double b) { return a + b; }));
  } else {
    std::vector<std::vector<int64_t>> data;
    for (const Tensor* t : call.in) data.push_back(integers_of(*t));
    store_integers(y, run(data, wrap_mul, wrap_add));
  }
  return {};
}

/// The loop form, by the labels of the equation. Ellipses of fewer axes than another one get leading axes of size 1.
Result<void> align_ellipses(ir::Graph& graph, ir::NodeId node, int /*opset*/) {
  const NodeView view = graph.view(node);
  std::string text = view.attributes->text("equation", "");
  std::erase(text, ' ');
  struct Ellipsis {
    size_t operand;
    int64_t first, axes;
  };
  std::vector<Ellipsis> found;
  std::string_view terms = std::string_view(text).substr(0, text.find("->"));
  for (size_t k = 0; k < view.explicit_inputs; ++k) {
    const std::string_view term = terms.substr(0, terms.find(','));
    terms.remove_prefix(std::min(terms.size(), term.size() + 1));
    if (!view.type(k).has_rank()) return {};
    const size_t dots = term.find("...");
    if (dots != term.npos) found.push_back({k, static_cast<int64_t>(dots), view.rank(k) - static_cast<int64_t>(term.size() - 3)});
  }
  int64_t widest = 0;
  for (const Ellipsis& e : found) widest = std::max(widest, e.axes);
  for (const Ellipsis& e : found) {
    if (e.axes == widest) continue;
    ir::Ints axes;
    for (int64_t k = e.axes; k < widest; ++k) axes.push_back(e.first + k - e.axes);
    ir::Builder build(graph, node);
    const ir::ValueId wide = build("Unsqueeze", {graph.node(node).inputs[e.operand], build.ints(axes)});
    TRY(build.status());
    graph.set_operand(node, static_cast<uint32_t>(e.operand), wide);
  }
  return {};
}

}  // namespace

OP(einsum) {
    .name = "Einsum",
    .since_version = 28,
    .inputs = {{"Inputs*"}},
    .outputs = {{"Output"}},
    .attributes = {{"equation: string!"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView&) { return 12; },
    .first_opset = 12,
    .make_explicit = align_ellipses,
    .samples = {{"f32[3,4], f32[4,5]; equation=[ij,jk->ik]", "f32[3,4]; equation=ij->ji", "f32[3,3]; equation=ii->i",
                 "f32[3,3]; equation=ii", "f32[2,3,4], f32[2,4,5]; equation=[bij,bjk]", "f32[2,3,4], f32[4]; equation=[...i,i->...]",
                 "f32[5,1,3,4], f32[2,4,3]; equation=[...ij,...jk->...ik]", "f32[3], f32[4]; equation=[i,j->ij]",
                 "i32[2,3], i32[3,2]; equation=[ij,jk->ik]", "f16[2,5], f16[2,5]; equation=[bi,bi->b]",
                 "f32[2,3], f32[3,2], f32[2]; equation=[ij,ji,i->j]", "f32[2,0], f32[0,3]; equation=[ij,jk->ik]"}},
};

}  // namespace tenon::ops::op_einsum
