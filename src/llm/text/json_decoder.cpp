// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "llm/text/json_steps.h"

namespace tenon::llm {
namespace {

/// Reads decoders in order. What works on single tokens comes first, Fuse, then Strip, which works on the whole text.
class DecoderReader {
 public:
  explicit DecoderReader(std::string_view place) : place_(place) {}

  Result<void> read(const Json& step, int depth = 0) {
    const std::string type = type_of_step(step);
    if (type == "Sequence") return read_sequence(step, depth);
    if (type == "ByteLevel") out.byte_level = true;
    else if (type == "ByteFallback") out.bytes = true;
    else if (type == "Fuse") fused_ = true;
    else if (type == "Replace") return read_replace(step);
    else if (type == "Metaspace") return read_metaspace(step);
    else if (type == "Strip") return read_strip(step);
    else return unsupported_step("decoder", step, place_);
    return {};
  }

  Decoding out;

 private:
  Error order(const Json& step) const {
    return fail(Code::not_supported, std::string(place_),
                fmt::format("not supported yet: the decoder {} at this place", type_of_step(step)))
        .expected("Replace, ByteFallback, Fuse, Strip, in this order")
        .found("another order");
  }

  Result<void> read_sequence(const Json& step, int depth) {
    const Json* steps = member(step, "decoders");
    if (!steps || !steps->is_array() || depth > 8) return incomplete_step("decoder", step, "decoders", place_);
    for (const Json& inner : *steps) TRY(read(inner, depth + 1));
    return {};
  }

  Result<void> read_replace(const Json& step) {
    const Json* pattern = member(step, "pattern");
    const auto from = pattern ? text_member(*pattern, "String") : std::nullopt, to = text_member(step, "content");
    if (!to || !pattern) return incomplete_step("decoder", step, "pattern", place_);
    if (!from) return unsupported_step("decoder", Json{{"type", "Replace with a regular expression"}}, place_);
    if (fused_) return order(step);
    out.replacements.emplace_back(*from, *to);
    return {};
  }

  Result<void> read_metaspace(const Json& step) {
    const auto replacement = text_member(step, "replacement");
    if (!replacement || replacement->empty()) return incomplete_step("decoder", step, "replacement", place_);
    const bool never =
        text_member(step, "prepend_scheme").value_or(flag_member(step, "add_prefix_space", true) ? "always" : "never") == "never";
    out.replacements.emplace_back(*replacement, " ");
    out.stripped = " ";
    out.most_stripped = never ? 0 : 1;
    return {};
  }

  Result<void> read_strip(const Json& step) {
    const auto content = text_member(step, "content");
    const auto start = integer_member(step, "start"), stop = integer_member(step, "stop");
    if (!content || content->empty() || !start || !stop || *start < 0 || *start > 1000)
      return incomplete_step("decoder", step, "content", place_);
    if (!fused_ || *stop != 0) return order(step);
    out.stripped = *content;
    out.most_stripped = static_cast<uint32_t>(*start);
    return {};
  }

  std::string_view place_;
  bool fused_ = false;
};

}  // namespace

Result<Decoding> json_decoding(const Json* step, std::string_view place) {
  DecoderReader reader(place);
  if (step) TRY(reader.read(*step));
  else reader.out.joined_by_spaces = true;
  return std::move(reader.out);
}

}  // namespace tenon::llm
