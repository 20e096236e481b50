// SPDX-License-Identifier: Apache-2.0
#include "rewrite/verify/sampling.h"

#include <algorithm>
#include <cmath>

namespace tenon::rewrite {
namespace {

/// The number that `size_choice` assigns to symbol `index`.
int64_t wanted(SizeChoice size_choice, size_t index) {
  constexpr int64_t kDistinct[] = {2, 3, 5, 7, 4, 6};
  const bool is_even = index % 2 == 0;
  switch (size_choice) {
    case SizeChoice::distinct: return kDistinct[index % std::size(kDistinct)];
    case SizeChoice::ones: return 1;
    case SizeChoice::twos: return 2;
    case SizeChoice::threes: return 3;
    case SizeChoice::fours: return 4;
    case SizeChoice::twelves: return 12;
    case SizeChoice::zeros: return 0;
    case SizeChoice::zero_first: return index == 0 ? 0 : 2;
    case SizeChoice::one_three: return is_even ? 1 : 3;
    case SizeChoice::three_one: return is_even ? 3 : 1;
  }
  return 1;
}

/// Symbols that were not drawn stay.
Dim sized(Dim dim, const decltype(Instance::sizes)& sizes) {
  return substitute(dim, [&](const DimNode& s) {
    const auto it = sizes.find(&s);
    return it == sizes.end() ? Dim::of(&s) : Dim(it->second);
  });
}

bool has_symbols(Dim dim) {
  bool any = false;
  each_symbol(dim, [&](const DimNode&) { any = true; });
  return any;
}

bool multiply(int64_t& count, int64_t by, int64_t most) {
  if (by > 0 && count > most / by) return false;
  count *= by;
  return true;
}

}  // namespace

bool is_as_promised(const ir::Type& type, const Sizes& shape, const Instance& instance) {
  if (!type.has_rank()) return true;
  if (type.shape->size() != shape.size()) return false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Dim dim = sized((*type.shape)[axis], instance.sizes);
    // No number and no symbol: a division by a size that is 0 here.
    if (dim.is_number() ? dim.value() != shape[axis] : !has_symbols(dim)) return false;
  }
  return true;
}

Sampler::Sampler(const ir::Graph& original, const Subgraph& subgraph, uint64_t seed)
    : original_(original), subgraph_(subgraph), elements_(seed) {
  for (ValueId id : subgraph.inputs) {
    const ir::Value& value = original.value(id);
    any_rank_ |= !value.type.has_rank();
    if (value.type.has_rank()) std::ranges::for_each(*value.type.shape, [&](Dim d) { collect(d); });
    if (value.data) std::ranges::for_each(*value.data, [&](Dim d) { collect(d); });
  }
}

void Sampler::collect(Dim dim) {
  each_symbol(dim, [&](const DimNode& s) {
    if (std::ranges::find(symbols_, &s) == symbols_.end()) symbols_.push_back(&s);
  });
}

std::optional<Sampler::Sizing> Sampler::sizing(SizeChoice size_choice) {
  Sizing sizes;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const DimNode& s = *symbols_[i];
    const int64_t lower = std::max<int64_t>(s.lower, 0), value = wanted(size_choice, i);
    if (lower > s.upper) return std::nullopt;
    sizes[&s] = std::min(s.upper, value < lower ? lower + value : value);
  }
  return sizes;
}

/// False where one is no number.
static bool store_sizes(const ir::ShapeData& data, const decltype(Instance::sizes)& sizes, Tensor& out) {
  for (int64_t i = 0; i < out.count(); ++i) {
    const auto element = sized(data[static_cast<size_t>(i)], sizes).number();
    if (!element) return false;
    out.set_integer(i, *element);
  }
  return true;
}

std::optional<Tensor> Sampler::tensor(const ir::Value& value, const Sizing& sizes, SizeChoice size_choice, Distribution distribution,
                                      int64_t& elements_left) {
  Sizes shape;
  int64_t count = 1;
  const int rank = value.type.has_rank() ? value.type.rank() : drawn_ % 4;
  for (int axis = 0; axis < rank; ++axis) {
    const auto size = value.type.has_rank() ? sized(value.type.dim(axis), sizes).number() : wanted(size_choice, static_cast<size_t>(axis));
    if (!size || *size < 0 || !multiply(count, *size, elements_left)) return std::nullopt;
    shape.push_back(*size);
  }
  elements_left -= count;
  auto made = Tensor::make(value.type.dtype, shape);
  if (!made) return std::nullopt;
  if (!value.data || static_cast<int64_t>(value.data->size()) != count) {
    elements_.fill(*made, distribution);
    return std::move(*made);
  }
  if (!store_sizes(*value.data, sizes, *made)) return std::nullopt;
  return std::move(*made);
}

std::optional<Instance> Sampler::draw(SizeChoice size_choice, Distribution distribution, int64_t most_elements, bool only_one) {
  const auto sizes = sizing(size_choice);
  if (!sizes) return std::nullopt;
  Instance out{{}, *sizes};
  size_t floats = 0, at = 0;
  for (ValueId id : subgraph_.inputs) floats += is_float(original_.value(id).type.dtype);
  for (ValueId id : subgraph_.inputs) {
    const bool odd = only_one && is_float(original_.value(id).type.dtype) && at++ != draw_count_ % floats;
    auto made = tensor(original_.value(id), *sizes, size_choice, odd ? Distribution::normal : distribution, most_elements);
    if (!made) return std::nullopt;
    out.inputs.push_back(std::move(*made));
  }
  ++drawn_;
  if (only_one) ++draw_count_;
  return out;
}

std::vector<Tensor> Sampler::perturbed(std::span<const Tensor> inputs) {
  std::vector<Tensor> out(inputs.begin(), inputs.end());
  for (Tensor& t : out) {
    if (!is_float(t.dtype())) continue;
    auto copy = Tensor::make(t.dtype(), t.shape());
    if (!copy) continue;
    const double step = 2 * unit_of(t.dtype());
    for (int64_t i = 0; i < t.count(); ++i) copy->set_number(i, t.number(i) * (1 + (elements_.random_bit() ? step : -step)));
    t = std::move(*copy);
  }
  return out;
}

}  // namespace tenon::rewrite
