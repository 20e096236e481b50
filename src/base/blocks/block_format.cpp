// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/blocks/unsupported_blocks.h"

#define TENON_ENTRY(name) extern const ::tenon::base::BlockFormat block_format_##name;
#include "tenon/blocks_list.inc"
#undef TENON_ENTRY

namespace tenon::inline base {
namespace {

std::string all_names() {
  std::string out;
  for (const BlockFormat* format : block_formats()) out += (out.empty() ? "" : ", ") + std::string(format->name);
  return out;
}

std::optional<size_t> first_not_finite(std::span<const float> values) {
  const auto at = std::ranges::find_if_not(values, [](float v) { return std::isfinite(v); });
  return at == values.end() ? std::nullopt : std::optional(static_cast<size_t>(at - values.begin()));
}

}  // namespace

std::span<const BlockFormat* const> block_formats() {
  static constexpr const BlockFormat* kFormats[] = {
#define TENON_ENTRY(name) &block_format_##name,
#include "tenon/blocks_list.inc"
#undef TENON_ENTRY
  };
  return kFormats;
}

const BlockFormat* block_format_named(std::string_view name) {
  const auto at = std::ranges::find(block_formats(), name, &BlockFormat::name);
  return at == block_formats().end() ? nullptr : *at;
}

Result<const BlockFormat*> block_format(uint32_t ggml_type) {
  const auto at = std::ranges::find(block_formats(), ggml_type, &BlockFormat::ggml_type);
  if (at != block_formats().end()) return *at;
  const UnsupportedBlocks* other = unsupported_blocks(ggml_type);
  if (other == nullptr)
    return fail(Code::not_supported, "", fmt::format("not supported yet: ggml's tensor type {}", ggml_type))
        .expected("one of: " + all_names())
        .found(fmt::format("type {}, which ggml gives no name that Tenon has", ggml_type));
  return fail(Code::not_supported, "", fmt::format("not supported yet: tensors of type {}", other->name))
      .expected("one of: " + all_names())
      .found(fmt::format("{} (type {})", other->name, ggml_type))
      .advice(fmt::format("use a file whose tensors are {}, the nearest type that is supported", other->nearest));
}

std::optional<uint64_t> block_bytes(const BlockFormat& format, uint64_t elements) {
  const auto per_block = static_cast<uint64_t>(format.elements);
  uint64_t bytes = 0;
  if (elements % per_block != 0 || __builtin_mul_overflow(elements / per_block, static_cast<uint64_t>(format.bytes), &bytes)) return {};
  return bytes;
}

void dequantize(const BlockFormat& format, std::span<const std::byte> blocks, std::span<float> out) {
  const auto bytes = static_cast<size_t>(format.bytes), elements = static_cast<size_t>(format.elements);
  const size_t count = out.size() / elements;
  TENON_ASSERT(count * elements == out.size() && count * bytes == blocks.size());
  for (size_t k = 0; k < count; ++k) format.decode(&blocks[k * bytes], &out[k * elements]);
}

Result<double> quantize(const BlockFormat& format, std::span<const float> values, std::span<std::byte> blocks) {
  if (format.encode == nullptr)
    return fail(Code::not_supported, "", fmt::format("not supported yet: quantizing to {}", format.name))
        .expected("a format that Tenon writes: Q4_0, Q4_1 or Q8_0")
        .found(std::string(format.name));
  const auto bytes = static_cast<size_t>(format.bytes), elements = static_cast<size_t>(format.elements);
  const size_t count = values.size() / elements;
  TENON_ASSERT(count * elements == values.size() && count * bytes == blocks.size() && elements <= 256);
  double squares = 0;
  float decoded[256];
  for (size_t k = 0; k < count; ++k) {
    const auto block = values.subspan(k * elements, elements);
    if (const auto at = first_not_finite(block))
      return fail(Code::bad_input, fmt::format("element {}", k * elements + *at), "a weight to quantize must be finite")
          .expected("a finite number")
          .found(fmt::format("{}", block[*at]));
    format.encode(block.data(), &blocks[k * bytes]);
    format.decode(&blocks[k * bytes], decoded);
    for (size_t i = 0; i < elements; ++i) {
      if (!std::isfinite(decoded[i]))
        return fail(Code::bad_input, fmt::format("element {}", k * elements + i), "a weight is too large to quantize")
            .expected(fmt::format("values whose scale fits the f16 of {}", format.name))
            .found(fmt::format("{}", block[i]));
      const double error = static_cast<double>(decoded[i]) - static_cast<double>(block[i]);
      squares += error * error;
    }
  }
  return values.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace tenon::inline base
