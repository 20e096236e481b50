// SPDX-License-Identifier: Apache-2.0
#include "llm/session/token_bytes.h"

#include <algorithm>
#include <optional>

namespace tenon::llm {
namespace {

using runtime::BufferInfo;
using runtime::Program;

/// The number of a line that depends on nothing.
std::optional<int64_t> constant_of(const Program& program, runtime::Slot slot) {
  const runtime::SizeLine& line = program.sizes[slot];
  return line.kind == runtime::SizeLine::Kind::constant ? std::optional(line.constant) : std::nullopt;
}

uint64_t bytes_of_weight(const Program& program, const BufferInfo& weight) {
  int64_t count = 1;
  for (const runtime::Slot slot : weight.shape) count *= constant_of(program, slot).value_or(0);
  return static_cast<uint64_t>(bytes_of(weight.dtype, count));
}

/// Whether the step has a buffer with the bytes of this one: itself, an alias, the same weight in another form.
bool uses(const Program& program, const runtime::Step& step, uint32_t buffer) {
  const BufferInfo& wanted = program.buffers[buffer];
  return std::ranges::any_of(step.buffers, [&](uint32_t b) {
    if (b == runtime::kMissing) return false;
    while (program.buffers[b].kind == BufferInfo::Kind::alias) b = program.buffers[b].index;
    const BufferInfo& used = program.buffers[b];
    return b == buffer || (wanted.kind == BufferInfo::Kind::weight && used.kind == wanted.kind && used.offset == wanted.offset);
  });
}

/// Whether every step that uses the weight has the tokens too: it picks rows by them.
bool is_table_of_tokens(const Program& program, uint32_t weight, uint32_t tokens) {
  const auto others = [&](const runtime::Step& step) { return uses(program, step, weight) && !uses(program, step, tokens); };
  return std::ranges::none_of(program.steps, others);
}

}  // namespace

uint64_t token_bytes(const runtime::Engine& engine) {
  const Program& program = engine.program();
  uint64_t out = engine.programs().weight_bytes;
  const runtime::PortInfo& tokens = program.inputs[0];
  const auto rows = tokens.limits.empty() ? std::nullopt : constant_of(program, tokens.limits[0].extent);
  if (!rows || *rows < 1) return out;
  for (uint32_t b = 0; b < program.buffers.size(); ++b) {
    const BufferInfo& weight = program.buffers[b];
    if (weight.kind != BufferInfo::Kind::weight || weight.shape.size() < 2 || !is_table_of_tokens(program, b, tokens.buffer)) continue;
    const uint64_t bytes = bytes_of_weight(program, weight);
    out -= std::min(out, bytes - bytes / static_cast<uint64_t>(*rows));
  }
  return out;
}

}  // namespace tenon::llm
