// SPDX-License-Identifier: Apache-2.0
#include "codegen/winograd/winograd.h"

#include <iterator>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/winograd/minimal_filter.h"
#include "codegen/winograd/plain_tiles.h"

namespace tenon::codegen {

namespace {

using C = Convolution;

/// Builds the groups that replace one convolution.
class ConvolutionInTiles {
 public:
  ConvolutionInTiles(Plan& plan, const Group& group, const Convolution& c, int outputs)
      : plan_(plan),
        group_(group),
        nest_(group_.nests[0]),
        c_(c),
        filter_(minimal_filter(outputs)),
        tiles_(c, nest_, outputs, ceil_div(c.result_rows, Dim(outputs)), ceil_div(c.result_columns, Dim(outputs))) {}

  std::vector<Group> groups() {
    const ArrayId factors = add_factors(c_.inputs), products = add_factors(c_.outputs);
    const PlainTiles plain(plan_, c_, nest_, tiles_, filter_.outputs);
    std::vector<Group> out = plain.groups();
    out.push_back(auxiliary_group(data_loop(factors)));
    out.push_back(product(factors, products));
    out.push_back(plain.sums(products));
    const bool runs_on_tiles = !group_.epilogue || is_light(group_.epilogue->map);
    out.push_back(auxiliary_group(result_loop(products, plain.marks(), runs_on_tiles ? group_.epilogue : std::nullopt)));
    if (!runs_on_tiles) out.push_back(plain_groups(group_).back());
    return out;
  }

 private:
  int64_t size() const { return filter_.size(); }

  /// Whether the epilogue is cheap enough to be emitted once for each result of a tile.
  bool is_light(const Nest& map) const {
    const BodyCost cost = cost_of(map);
    return cost.transcendental == 0 && cost.arithmetic <= plan_.limits.max_tile_epilogue;
  }

  /// Adds an array of size^2 factors (or products) for each tile and channel. The elements of a tile are contiguous.
  ArrayId add_factors(int64_t channels) {
    const ArrayId a =
        add_temporary(plan_, DType::f32, {size() * size(), c_.images, tiles_.down(), tiles_.across(), channels}, {1, 2, 3, 0, 4});
    // Without padding, the rows of the product would begin in one set of the first-level cache.
    const int64_t bytes = size() * size() * channels * static_cast<int64_t>(sizeof(float));
    if (plan_.limits.set_bytes > 0 && bytes % plan_.limits.set_bytes == 0)
      plan_.arrays[a].row_padding = plan_.limits.line_bytes / static_cast<int64_t>(sizeof(float));
    plan_.arrays[a].strides = strides_of(plan_.arrays[a]);
    return a;
  }
  std::vector<Expr> tile_index(int64_t position) const {
    return {index_of(position), Expr::axis(kImage), Expr::axis(kDown), Expr::axis(kAcross), Expr::axis(kChannel)};
  }

  // --- the image as factors

  Nest data_loop(ArrayId factors) const {
    Nest nest = tiles_.loop(c_.inputs);
    std::vector<Expr> square;
    for (int64_t k = 0; k < size() * size(); ++k) {
      nest.accesses.push_back(tiles_.element(k / size(), k % size(), kChannel));
      square.push_back(Expr::input(static_cast<int>(k), DType::f32));
    }
    const std::vector<Expr> values = data_factors(filter_, square);
    for (int64_t k = 0; k < size() * size(); ++k) {
      NestOutput o;
      o.array = factors;
      o.value = values[static_cast<size_t>(k)];
      o.index = tile_index(k);
      nest.outputs.push_back(std::move(o));
    }
    return nest;
  }

  // --- the products

  /// [size^2, inputs, outputs]
  ArrayId add_kernels() {
    const ir::ConstantRef kernels = plan_.arrays[nest_.accesses[c_.kernels].array].constant;
    const ir::ConstantRef rows = ir::reshape(kernels, {c_.outputs * c_.inputs, 9});
    const ir::ConstantRef transformed = ir::reshape(ir::product(rows, kernel_factors(filter_)), {c_.outputs, c_.inputs, size() * size()});
    Array a;
    a.constant = ir::permute(transformed, {2, 1, 0});
    for (int64_t n : a.constant->shape) a.shape.push_back(n);
    a.strides = row_major(a.shape);
    plan_.arrays.push_back(std::move(a));
    return static_cast<ArrayId>(plan_.arrays.size() - 1);
  }

  Group product(ArrayId factors, ArrayId products) {
    enum : int { kPosition, kImages, kRows, kColumns, kOutput, kInput };
    Nest nest;
    nest.axes = {parallel_axis(size() * size()), parallel_axis(c_.images),  parallel_axis(tiles_.down()),
                 parallel_axis(tiles_.across()), parallel_axis(c_.outputs), reduced_axis(c_.inputs)};
    const auto at = [](std::initializer_list<int> axes) {
      std::vector<Expr> out;
      for (int x : axes) out.push_back(Expr::axis(x));
      return out;
    };
    nest.accesses.push_back({factors, DType::f32, at({kPosition, kImages, kRows, kColumns, kInput}), {}, {}, {}});
    nest.accesses.push_back({add_kernels(), DType::f32, at({kPosition, kInput, kOutput}), {}, {}, {}});
    NestOutput o;
    o.array = products;
    o.value = Expr::input(0, DType::f32) * Expr::input(1, DType::f32);
    o.combine = ops::Combine::sum;
    o.index = at({kPosition, kImages, kRows, kColumns, kOutput});
    nest.outputs.push_back(std::move(o));
    nest.nodes = nest_.nodes;
    Group g;
    g.nests.push_back(std::move(nest));
    g.node = group_.node;
    g.set_kind(GroupKind::contract);
    const bool has_roles = recompute_roles(g, plan_);
    TENON_ASSERT(has_roles);
    return g;
  }

  // --- the products as results

  /// Axes of the epilogue (the result's dimensions) at result (i, j) of a tile.
  std::function<Expr(const ExprNode&)> result_axes(int64_t i, int64_t j) const {
    const Expr at[] = {Expr::axis(kImage), Expr::axis(kChannel), tiles_.coordinate(kDown, i), tiles_.coordinate(kAcross, j)};
    return [=](const ExprNode& n) { return n.op == ExprOp::axis ? at[n.index] : Expr(); };
  }

  /// Adds the epilogue's loads for result (i, j) of a tile to the nest, and returns their numbers. A load that is equal for all results of
  /// a tile is added once: `first` has the numbers of result (0, 0).
  std::vector<int> add_loads(const Epilogue& e, int64_t i, int64_t j, const Expr& inside, const std::vector<int>& first, Nest& nest) const {
    std::vector<int> numbers;
    for (int k = 0; k < static_cast<int>(e.map.accesses.size()); ++k) {
      numbers.push_back(-1);
      if (k == e.accumulator) continue;
      Nest moved;
      moved.accesses.push_back(e.map.accesses[static_cast<size_t>(k)]);
      NestAccess& a = moved.accesses[0];
      bool is_equal_in_tile = true;
      for (const Expr* x : {&a.flat, &a.within, &a.fill})
        is_equal_in_tile &= !mentions(*x, ExprOp::axis, 2) && !mentions(*x, ExprOp::axis, 3);
      for (const Expr& x : a.index) is_equal_in_tile &= !mentions(x, ExprOp::axis, 2) && !mentions(x, ExprOp::axis, 3);
      if (is_equal_in_tile && !first.empty()) {
        numbers.back() = first[static_cast<size_t>(k)];
        continue;
      }
      rewrite(moved, result_axes(i, j));
      if (!is_equal_in_tile && inside) a.within = conjunction(a.within, inside);
      if (a.within && !a.fill) a.fill = is_float(a.dtype) ? Expr::constant(a.dtype, 0) : Expr::integer(a.dtype, 0);
      numbers.back() = static_cast<int>(nest.accesses.size());
      nest.accesses.push_back(std::move(a));
    }
    return numbers;
  }

  /// The epilogue's value for a sum.
  Expr apply_epilogue(const Epilogue& e, const Expr& sum, int64_t i, int64_t j, const std::vector<int>& numbers) const {
    const auto axes = result_axes(i, j);
    return substitute(e.map.outputs[0].value, [&](const ExprNode& n) {
      if (n.op != ExprOp::input) return axes(n);
      return n.index == e.accumulator ? sum : Expr::input(numbers[static_cast<size_t>(n.index)], n.dtype);
    });
  }

  /// The loop that transforms products to results. A plain tile has its results at the first positions of the products already.
  Nest result_loop(ArrayId products, ArrayId marks, const std::optional<Epilogue>& epilogue) const {
    Nest nest = tiles_.loop(c_.outputs);
    if (epilogue) nest.nodes.insert(nest.nodes.end(), epilogue->map.nodes.begin(), epilogue->map.nodes.end());
    std::vector<Expr> square;
    for (int64_t k = 0; k < size() * size(); ++k) {
      nest.accesses.push_back({products, DType::f32, tile_index(k), {}, {}, {}});
      square.push_back(Expr::input(static_cast<int>(k), DType::f32));
    }
    const Expr is_plain = Expr::input(static_cast<int>(nest.accesses.size()), DType::boolean);
    nest.accesses.push_back({marks, DType::boolean, {Expr::axis(kImage), Expr::axis(kDown), Expr::axis(kAcross)}, {}, {}, {}});
    const std::vector<Expr> sums = sums_of_products(filter_, square);
    const NestOutput& result = epilogue ? epilogue->map.outputs[0] : nest_.outputs[0];
    std::vector<int> first;
    for (int64_t i = 0; i < filter_.outputs; ++i)
      for (int64_t j = 0; j < filter_.outputs; ++j) {
        NestOutput o;
        o.array = result.array;
        o.dtype = result.dtype;
        o.within = conjunction(tiles_.in_range(kDown, i, 0, c_.result_rows), tiles_.in_range(kAcross, j, 0, c_.result_columns));
        o.index = {Expr::axis(kImage), Expr::axis(kChannel), tiles_.coordinate(kDown, i), tiles_.coordinate(kAcross, j)};
        const auto at = static_cast<size_t>(i * filter_.outputs + j);
        o.value = select(is_plain, square[at], sums[at]);
        if (epilogue) {
          const std::vector<int> numbers = add_loads(*epilogue, i, j, o.within, first, nest);
          if (first.empty()) first = numbers;
          o.value = apply_epilogue(*epilogue, o.value, i, j, numbers);
        }
        nest.outputs.push_back(std::move(o));
      }
    return nest;
  }

  Plan& plan_;
  const Group group_;
  const Nest& nest_;  ///< the group's
  const Convolution c_;
  const MinimalFilter filter_;
  const TileGrid tiles_;
};

}  // namespace

void winograd(Plan& plan) {
  std::vector<Group> out;
  for (Group& group : plan.groups) {
    const auto convolution = convolution_of(group, plan);
    const int outputs = convolution ? tile_outputs(*convolution, plan.limits) : 0;
    if (outputs == 0) {
      out.push_back(std::move(group));
      continue;
    }
    std::vector<Group> tiles = ConvolutionInTiles(plan, group, *convolution, outputs).groups();
    std::ranges::move(tiles, std::back_inserter(out));
  }
  plan.groups = std::move(out);
}

}  // namespace tenon::codegen
