// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "nn/decoder/parts.h"
#include "ops/definition/plain_ops.h"

namespace tenon::nn {
namespace {

/// The dtype of the state that stores the elements, or their codes.
DType dtype_of(CacheType type) {
  switch (type) {
    case CacheType::f16: return DType::f16;
    case CacheType::bf16: return DType::bf16;
    case CacheType::int8: return DType::i8;
    case CacheType::fp8: return DType::f8e4m3fn;
    default: return DType::f32;
  }
}

/// The code of the largest magnitude of a token and KV head, of types with a scale for each; 0 of the others.
double max_code(CacheType type) { return type == CacheType::int8 ? 127 : type == CacheType::fp8 ? 448 : 0; }

std::string scales_of(const std::string& name) { return name + ".scales"; }

/// The input of that name becomes a state, to which each run appends `rows`, [batch, key heads, new, size]. Returns all rows.
ir::ValueId append_rows(DecoderParts& parts, int64_t layer, const std::string& name, ir::ValueId rows) {
  ir::Graph& graph = parts.build.graph();
  const ir::ValueId old = graph.find_value(name);
  const ir::ValueId now =
      parts.stream ? scatter_rows(parts, ring_of(parts, layer), old, rows) : parts.build("Concat", {old, rows}, {{"axis", int64_t{2}}});
  if (!now) return {};
  const auto slot = static_cast<uint32_t>(graph.outputs().size());
  graph.add_output(now, name + ".now");
  ir::State state{.name = name, .input = old, .output = slot};
  if (!parts.stream) state.growing = ir::GrowingAxis{2, parts.capacity};
  if (auto fits = ir::check_state(graph, state); !fits) {
    parts.build.refuse(std::move(fits.error()));
    return {};
  }
  graph.add_state(std::move(state));
  return now;
}

/// Appends rows as codes to the state `name`, and their scales to the state `name`.scales; returns all rows decoded. A row of zeros has the
/// least normal number as its scale.
ir::ValueId append_quantized(DecoderParts& parts, int64_t layer, const std::string& name, ir::ValueId rows) {
  ir::Builder& build = parts.build;
  const ir::ValueId largest = build("ReduceMax", {build("Abs", {rows}), build.ints({-1})}, {{"keepdims", int64_t{1}}});
  const ir::ValueId scales = build("Max", {build("Div", {largest, build.scalar(DType::f32, max_code(parts.cache))}),
                                           build.scalar(DType::f32, std::numeric_limits<float>::min())});
  const ir::ValueId scaled = build("Div", {rows, scales});  // a cast to f8e4m3fn rounds by itself
  const ir::ValueId codes = ops::cast_to(build, parts.cache == CacheType::int8 ? build("Round", {scaled}) : scaled, dtype_of(parts.cache));
  const ir::ValueId all = append_rows(parts, layer, name, codes), all_scales = append_rows(parts, layer, scales_of(name), scales);
  return build("Mul", {ops::cast_to(build, all, DType::f32), all_scales});
}

}  // namespace

void add_cache_input(ir::Graph& graph, const std::string& name, const DimList& shape, CacheType type) {
  graph.add_input(name, ir::Type(dtype_of(type), shape));
  if (max_code(type) > 0) graph.add_input(scales_of(name), ir::Type(DType::f32, {shape[0], shape[1], shape[2], 1}));
}

ir::ValueId append_to_cache(DecoderParts& parts, int64_t layer, const char* kind, ir::ValueId rows) {
  if (!rows || !parts.has_cache) return rows;
  const std::string name = fmt::format("{}.{}", kind, layer);
  if (max_code(parts.cache) > 0) return append_quantized(parts, layer, name, rows);
  const ir::ValueId all = append_rows(parts, layer, name, ops::cast_to(parts.build, rows, dtype_of(parts.cache)));
  return ops::cast_to(parts.build, all, DType::f32);
}

}  // namespace tenon::nn
