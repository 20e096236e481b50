// SPDX-License-Identifier: Apache-2.0
// A transposed convolution by steps of s writes s interleaved images, one a phase, and each is a plain convolution by every s-th element of
// the kernel: one convolution makes all of them as channels, which then are side by side in space. Position q*s + r of the whole
// (uncropped) result is the sum of x[q - m] * w[r + m*s]. (Shi et al., "Is the deconvolution layer the same as a convolutional layer?",
// 2016.)
#include <algorithm>
#include <limits>
#include <numeric>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/channels.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::combine_conv_transpose {
using namespace rewrite;
namespace {

constexpr int64_t kMostWeights = int64_t{1} << 24;

struct Phases {
  ir::Ints kernel, stride, taps;  ///< taps: of each phase, the kernel filled up with zeros
  ir::Ints pads;                  ///< at both sides of a phase
  ir::Ints cut_begin, cut_end;    ///< of the whole result
  ir::Ints sizes;                 ///< of a phase, where known and needed
  int64_t inputs = 0, outputs = 0;

  bool moves() const {
    return std::ranges::any_of(stride, [](int64_t s) { return s > 1; });
  }
  bool is_square() const { return stride.size() == 2 && stride[0] == stride[1]; }
  int64_t count() const { return std::accumulate(stride.begin(), stride.end(), int64_t{1}, std::multiplies<>()); }
};

bool has_plain_attributes(const Match& m, size_t axes) {
  const auto& a = m.node(m.root()).attributes;
  const auto ones = a.ints("dilations", ir::Ints(axes, 1));
  return a.integer("group", 1) == 1 && a.text("auto_pad", "NOTSET") == "NOTSET" && a.ints("output_shape").empty() &&
         std::ranges::all_of(ones, [](int64_t d) { return d == 1; });
}

bool read_geometry(Match& m, const DimList& data, const DimList& weights, Phases& found) {
  const auto& a = m.node(m.root()).attributes;
  const size_t axes = weights.size() - 2;
  found.stride = a.ints("strides", ir::Ints(axes, 1));
  const ir::Ints pads = a.ints("pads", ir::Ints(2 * axes, 0)), extra = a.ints("output_padding", ir::Ints(axes, 0));
  for (size_t k = 0; k < axes; ++k) {
    const int64_t size = weights[2 + k].value(), s = found.stride[k], taps = (size + s - 1) / s;
    const int64_t cut_end = taps * s - size + pads[axes + k] - extra[k];
    if (size < 1 || s < 1) return false;
    // A convolution takes for granted that its padded picture is as large as its kernel: an empty one gets an edge that is cut off again.
    const int64_t edge = taps == 1 && data[2 + k].lower() < 1 ? 1 : 0;
    if (pads[k] < 0 || cut_end < 0) return m.refuse("the result goes beyond what the kernel reaches");
    found.kernel.push_back(size);
    found.taps.push_back(taps);
    found.pads.push_back(taps - 1 + edge);
    found.cut_begin.push_back(pads[k] + edge * s);
    found.cut_end.push_back(cut_end + edge * s);
  }
  return true;
}

bool has_phases(Match& m) {
  const ValueId x = m.operand(m.root(), 0), weight = m.operand(m.root(), 1), bias = m.operand(m.root(), 2);
  const DimList *data = m.shape(x), *weights = m.shape(weight);
  if (m.dtype(x) != DType::f32 || !data || !weights || weights->size() < 3 || data->size() != weights->size()) return false;
  if (!has_plain_attributes(m, weights->size() - 2)) return m.refuse("groups, dilations or a shape of its own");
  if (!m.is_constant(weight) || (bias && !m.is_constant(bias))) return m.refuse("the kernel or the bias is not constant");
  if (!product(*weights).is_number() || product(*weights).value() > kMostWeights) return m.refuse("the kernel is too large");
  Phases found;
  if (!read_geometry(m, *data, *weights, found)) return false;
  found.inputs = (*weights)[0].value();
  found.outputs = (*weights)[1].value();
  if (found.moves() && !found.is_square())
    for (size_t k = 0; k < found.stride.size(); ++k) {
      if (!(*data)[2 + k].is_number()) return m.refuse("a picture of unknown size, with unequal steps");
      found.sizes.push_back((*data)[2 + k].value() + 2 * found.pads[k] - found.taps[k] + 1);
    }
  return m.accept(std::move(found));
}

/// The number of that phase, tap or element as places along the axes.
ir::Ints places_of(int64_t number, const ir::Ints& extents) {
  ir::Ints out(extents.size());
  for (size_t k = extents.size(); k-- > 0;) {
    out[k] = number % extents[k];
    number /= extents[k];
  }
  return out;
}

/// Element of a kernel plane that phase `r` takes at tap `t` (which counts backwards); -1: a zero.
int64_t element_of(const Phases& p, const ir::Ints& r, const ir::Ints& t) {
  int64_t out = 0;
  for (size_t k = 0; k < p.kernel.size(); ++k) {
    const int64_t at = r[k] + (p.taps[k] - 1 - t[k]) * p.stride[k];
    if (at >= p.kernel[k]) return -1;
    out = out * p.kernel[k] + at;
  }
  return out;
}

/// [phases * outputs, inputs, taps...] of [inputs, outputs, kernel...]
ValueId kernels_of_phases(const Match& m, Rewriter& w, const Phases& p) {
  const Tensor* given = m.graph().tensor_of(m.operand(m.root(), 1), kMostWeights);
  Sizes shape{p.count() * p.outputs, p.inputs};
  shape.insert(shape.end(), p.taps.begin(), p.taps.end());
  auto made = Tensor::make(DType::f32, shape);
  if (!given || !made) return {};
  const Numbers from = numbers_of(*given);
  Numbers to(static_cast<size_t>(made->count()), 0);
  const int64_t taps = std::accumulate(p.taps.begin(), p.taps.end(), int64_t{1}, std::multiplies<>());
  const int64_t plane = std::accumulate(p.kernel.begin(), p.kernel.end(), int64_t{1}, std::multiplies<>());
  for (int64_t phase = 0; phase < p.count(); ++phase)
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t element = element_of(p, places_of(phase, p.stride), places_of(t, p.taps));
      if (element < 0) continue;
      for (int64_t o = 0; o < p.outputs; ++o)
        for (int64_t i = 0; i < p.inputs; ++i)
          to[((phase * p.outputs + o) * p.inputs + i) * taps + t] = from[(i * p.outputs + o) * plane + element];
    }
  store_numbers(*made, to);
  return w.constant(std::move(*made));
}

ValueId bias_of_phases(const Match& m, Rewriter& w, const Phases& p) {
  const ValueId bias = m.operand(m.root(), 2);
  const Tensor* given = bias ? m.graph().tensor_of(bias, kMostWeights) : nullptr;
  if (!given) return {};
  const Numbers one = numbers_of(*given);
  Numbers all;
  for (int64_t phase = 0; phase < p.count(); ++phase) all.insert(all.end(), one.begin(), one.end());
  return vector_constant(w, all);
}

/// [batch, phases * outputs, sizes...] to [batch, outputs, sizes * steps...]
ValueId operand_of_head_split(Rewriter& w, const Phases& p, ValueId phases) {
  if (!p.moves()) return phases;
  if (p.is_square()) return w("DepthToSpace", {phases}, {{"blocksize", p.stride[0]}, {"mode", std::string("DCR")}});
  const int64_t axes = static_cast<int64_t>(p.stride.size());
  ir::Ints apart{0}, order{0, axes + 1}, joined{0, p.outputs};
  apart.insert(apart.end(), p.stride.begin(), p.stride.end());
  apart.push_back(p.outputs);
  apart.insert(apart.end(), p.sizes.begin(), p.sizes.end());
  for (int64_t k = 0; k < axes; ++k) {
    order.push_back(axes + 2 + k);
    order.push_back(1 + k);
    joined.push_back(p.sizes[k] * p.stride[k]);
  }
  const ValueId transposed = w("Transpose", {w("Reshape", {phases, w.ints(apart)})}, {{"perm", order}});
  return w("Reshape", {transposed, w.ints(joined)});
}

ValueId cropped(Rewriter& w, const Phases& p, ValueId whole) {
  ir::Ints starts, ends, axes;
  for (size_t k = 0; k < p.stride.size(); ++k) {
    if (p.cut_begin[k] == 0 && p.cut_end[k] == 0) continue;
    axes.push_back(static_cast<int64_t>(k) + 2);
    starts.push_back(p.cut_begin[k]);
    ends.push_back(p.cut_end[k] == 0 ? std::numeric_limits<int64_t>::max() : -p.cut_end[k]);
  }
  return axes.empty() ? whole : w("Slice", {whole, w.ints(starts), w.ints(ends), w.ints(axes)});
}

bool convolve_phases(const Match& m, Rewriter& w) {
  const Phases& p = m.state<Phases>();
  ir::Ints pads;
  for (int side = 0; side < 2; ++side) pads.insert(pads.end(), p.pads.begin(), p.pads.end());
  std::vector<ValueId> inputs{m.operand(m.root(), 0), kernels_of_phases(m, w, p)};
  if (const ValueId bias = bias_of_phases(m, w, p)) inputs.push_back(bias);
  return replace_root(m, w, cropped(w, p, operand_of_head_split(w, p, w("Conv", std::move(inputs), {{"pads", pads}}))));
}

}  // namespace

RULES(combine_conv_transpose) {
    .sets = "tenon",
    .rules =
        {
            {.name = "conv_transpose_phases",
             .docs =
                 "a transposed convolution by constant kernels is one convolution that makes its interleaved images as channels (an infinity "
                 "meets the zeros that fill a kernel up: NaN)",
             .roots = "ConvTranspose",
             .match = has_phases,
             .rewrite = convolve_phases,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 4},
        },
};

}  // namespace tenon::rules::combine_conv_transpose
