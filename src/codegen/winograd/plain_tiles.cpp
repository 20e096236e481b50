// SPDX-License-Identifier: Apache-2.0
#include "codegen/winograd/plain_tiles.h"

#include <limits>

namespace tenon::codegen {

namespace {

constexpr int64_t kBlockSize = 2;
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kMaxF32 = std::numeric_limits<float>::max();

Expr f32(double value) { return Expr::constant(DType::f32, value); }

/// Adds neighbours pairwise, so that a result has few roundings.
Expr sum_of(std::vector<Expr> terms) {
  while (terms.size() > 1) {
    std::vector<Expr> pairs;
    for (size_t k = 0; k < terms.size(); k += 2) pairs.push_back(k + 1 < terms.size() ? terms[k] + terms[k + 1] : terms[k]);
    terms = std::move(pairs);
  }
  return terms[0];
}

NestOutput output(ArrayId array, DType dtype, Expr value, std::vector<Expr> index) {
  NestOutput out;
  out.array = array;
  out.dtype = dtype;
  out.value = std::move(value);
  out.index = std::move(index);
  return out;
}

ArrayId add_constant(Plan& plan, ir::ConstantRef constant) {
  Array a;
  a.dtype = constant->dtype;
  a.shape.assign(constant->shape.begin(), constant->shape.end());
  a.strides = row_major(a.shape);
  a.constant = std::move(constant);
  plan.arrays.push_back(std::move(a));
  return static_cast<ArrayId>(plan.arrays.size() - 1);
}

}  // namespace

PlainTiles::PlainTiles(Plan& plan, const Convolution& c, const Nest& nest, const TileGrid& tiles, int outputs)
    : plan_(plan),
      c_(c),
      tiles_(tiles),
      outputs_(outputs),
      grid_(c, nest, kBlockSize, tiles.down() * (outputs / kBlockSize) + 1, tiles.across() * (outputs / kBlockSize) + 1) {
  energy_ = add_temporary(plan, DType::f32, {c.images, grid_.down(), grid_.across()});
  marks_ = add_temporary(plan, DType::boolean, {c.images, tiles.down(), tiles.across()});
  kernels_ = add_constant(plan, ir::permute(plan.arrays[nest.accesses[static_cast<size_t>(c.kernels)].array].constant, {2, 3, 1, 0}));
}

std::vector<Group> PlainTiles::groups() const { return {auxiliary_group(energy_loop()), auxiliary_group(marks_loop())}; }

/// The loop that sums the squares of the elements of each block over all channels.
Nest PlainTiles::energy_loop() const {
  Nest nest = grid_.loop(c_.inputs);
  nest.axes[kChannel] = reduced_axis(c_.inputs);
  std::vector<Expr> squares;
  for (int64_t k = 0; k < kBlockSize * kBlockSize; ++k) {
    nest.accesses.push_back(grid_.element(k / kBlockSize, k % kBlockSize, kChannel));
    const Expr x = Expr::input(static_cast<int>(k), DType::f32);
    squares.push_back(x * x);
  }
  NestOutput o = output(energy_, DType::f32, sum_of(squares), {Expr::axis(kImage), Expr::axis(kDown), Expr::axis(kAcross)});
  o.combine = ops::Combine::sum;
  nest.outputs.push_back(std::move(o));
  return nest;
}

Expr PlainTiles::whole_energy(Expr energy, int64_t i, int64_t j) const {
  Expr overlaps;
  const auto extend = [&](TileAxis tiles, Dim first, const IndexBounds& image) {
    const Expr whole_block =
        conjunction(tiles_.in_range(tiles, first, image.from, image.to), tiles_.in_range(tiles, first + 1, image.from, image.to));
    if (whole_block) energy = select(whole_block, energy, energy * f32(kBlockSize));
    overlaps = conjunction(overlaps, tiles_.in_range(tiles, first, image.from - (kBlockSize - 1), image.to));
  };
  extend(kDown, c_.first_row + kBlockSize * i, *c_.rows);
  extend(kAcross, c_.first_column + kBlockSize * j, *c_.columns);
  return overlaps ? select(overlaps, energy, f32(kInfinity)) : energy;
}

Nest PlainTiles::marks_loop() const {
  Nest nest = tiles_.loop(1);
  nest.axes.pop_back();
  std::vector<Expr> energies;
  Expr smallest;
  for (int64_t k = 0; k < blocks() * blocks(); ++k) {
    const int64_t i = k / blocks(), j = k % blocks();
    const auto block = [&](TileAxis tiles, int64_t at) {
      return simplify(Expr::axis(tiles) * index_of(outputs_ / kBlockSize) + index_of(at));
    };
    nest.accesses.push_back({energy_, DType::f32, {Expr::axis(kImage), block(kDown, i), block(kAcross, j)}, {}, {}, {}});
    energies.push_back(Expr::input(static_cast<int>(k), DType::f32));
    const Expr whole_block = whole_energy(energies.back(), i, j);
    smallest = smallest ? min(smallest, whole_block) : whole_block;
  }
  const Expr bound = min(smallest * f32(plan_.limits.tile_contrast), f32(kMaxF32));
  nest.outputs.push_back(
      output(marks_, DType::boolean, logical_not(sum_of(energies) <= bound), {Expr::axis(kImage), Expr::axis(kDown), Expr::axis(kAcross)}));
  return nest;
}

Group PlainTiles::sums(ArrayId products) const {
  constexpr int kWindow = 3;
  Nest nest = tiles_.loop(c_.outputs);
  nest.axes.push_back(reduced_axis(c_.inputs));
  const int size = outputs_ + kWindow - 1;
  for (int k = 0; k < size * size; ++k) nest.accesses.push_back(tiles_.element(k / size, k % size, kInput));
  for (int k = 0; k < kWindow * kWindow; ++k)
    nest.accesses.push_back(
        {kernels_, DType::f32, {index_of(k / kWindow), index_of(k % kWindow), Expr::axis(kInput), Expr::axis(kChannel)}, {}, {}, {}});
  nest.condition = static_cast<int>(nest.accesses.size());
  nest.accesses.push_back({marks_, DType::boolean, {Expr::axis(kImage), Expr::axis(kDown), Expr::axis(kAcross)}, {}, {}, {}});
  for (int at = 0; at < outputs_ * outputs_; ++at) {
    Expr sum;
    for (int k = 0; k < kWindow * kWindow; ++k) {
      const int element = (at / outputs_ + k / kWindow) * size + at % outputs_ + k % kWindow;
      const Expr term = Expr::input(element, DType::f32) * Expr::input(size * size + k, DType::f32);
      sum = sum ? sum + term : term;
    }
    NestOutput o =
        output(products, DType::f32, sum, {index_of(at), Expr::axis(kImage), Expr::axis(kDown), Expr::axis(kAcross), Expr::axis(kChannel)});
    o.combine = ops::Combine::sum;
    nest.outputs.push_back(std::move(o));
  }
  return auxiliary_group(std::move(nest));
}

}  // namespace tenon::codegen
