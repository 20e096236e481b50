// SPDX-License-Identifier: Apache-2.0
#include "program/buffer_lives.h"

#include <algorithm>

namespace tenon::program {

using runtime::BufferInfo;
using runtime::kMissing;
using runtime::Program;

namespace {

/// Extends the life of the buffer, or of the one that it is an alias of, to the steps `from` to `to`.
void widen_life(Program& program, uint32_t buffer, uint32_t from, uint32_t to) {
  if (buffer == kMissing) return;
  BufferInfo& info = program.buffers[buffer];
  if (info.kind == BufferInfo::Kind::alias) return widen_life(program, info.index, from, to);
  if (info.first < from || info.last > to) info.units.reset();
  info.first = std::min(info.first, from);
  info.last = std::max(info.last, to);
}

}  // namespace

void extend_life(Program& program, uint32_t buffer) {
  if (buffer == kMissing) return;
  BufferInfo& info = program.buffers[buffer];
  const uint32_t step = static_cast<uint32_t>(program.steps.size());
  if (info.kind == BufferInfo::Kind::alias) return extend_life(program, info.index);
  info.first = std::min(info.first, step);
  info.last = std::max(info.last, step);
}

void extend_lives_over_regions(Program& program) {
  // Steps from .. to are a region; one that is not joined is a region alone.
  for (uint32_t from = 0; from < program.steps.size();) {
    uint32_t to = from;
    while (to + 1 < program.steps.size() && runtime::is_joined(program.steps[to + 1])) ++to;
    for (uint32_t s = from; s <= to; ++s)
      for (uint32_t b : program.steps[s].buffers) widen_life(program, b, from, to);
    from = to + 1;
  }
  for (BufferInfo& b : program.buffers)
    if (b.first == kMissing) b.first = b.last = 0;
}

}  // namespace tenon::program
