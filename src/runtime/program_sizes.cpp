// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "runtime/program.h"
#include "runtime/undefined_sizes.h"

namespace tenon::runtime {

namespace {

std::optional<int64_t> value_of(const SizeLine& line, const GivenSizes& given, const std::vector<int64_t>& v) {
  using Kind = SizeLine::Kind;
  switch (line.kind) {
    case Kind::constant: return line.constant;
    case Kind::input_dimension: return given.inputs[line.a][line.b];
    case Kind::add: return checked_add(v[line.a], v[line.b]);
    case Kind::multiply: return checked_mul(v[line.a], v[line.b]);
    case Kind::floor_divide:
      if (v[line.b] == -1) return checked_sub(0, v[line.a]);
      return v[line.b] == 0 ? 0 : floor_div(v[line.a], v[line.b]);  // 0: no value; check_divisions says where one is needed
    case Kind::minimum: return std::min(v[line.a], v[line.b]);
    case Kind::maximum: return std::max(v[line.a], v[line.b]);
    case Kind::select: return v[line.a] != 0 ? v[line.b] : v[line.c];
    case Kind::less: return v[line.a] < v[line.b];
    case Kind::equal: return v[line.a] == v[line.b];
    case Kind::bound: return 0;
    case Kind::outer: return given.outer[line.a];
  }
  return std::nullopt;
}

std::string overflow_text(const SizeLine& line, const std::vector<int64_t>& v) {
  const char* sign = line.kind == SizeLine::Kind::add ? " + " : line.kind == SizeLine::Kind::multiply ? " * " : " / ";
  return std::to_string(v[line.a]) + sign + std::to_string(v[line.b]);
}

}  // namespace

Result<void> evaluate_sizes(const Program& program, uint32_t from, uint32_t to, const GivenSizes& given, std::vector<int64_t>& values) {
  values.resize(program.sizes.size());
  for (uint32_t k = from; k < to; ++k) {
    if (program.sizes[k].kind == SizeLine::Kind::bound) continue;  // set by its step
    auto value = value_of(program.sizes[k], given, values);
    if (!value)
      return fail(Code::size_overflow, "size table", "a size does not fit 63 bits")
          .expected("at most 2^63-1")
          .found(overflow_text(program.sizes[k], values))
          .advice("give smaller inputs");
    values[k] = *value;
  }
  return check_divisions(program, to, values);
}

bool sized_late(const Program& program, const BufferInfo& buffer) {
  return std::any_of(buffer.shape.begin(), buffer.shape.end(), [&](Slot s) { return s >= program.door_lines; });
}

Result<Layout> lay_out(const Program& program, const std::vector<int64_t>& sizes, uint64_t margin) {
  struct Block {
    uint32_t buffer;
    uint64_t bytes, offset;
  };
  Layout layout;
  layout.offsets.assign(program.buffers.size(), 0);
  std::vector<Block> blocks;
  for (uint32_t k = 0; k < program.buffers.size(); ++k) {
    const BufferInfo& b = program.buffers[k];
    if (b.kind != BufferInfo::Kind::arena || sized_late(program, b)) continue;
    std::vector<int64_t> shape;
    for (Slot s : b.shape) shape.push_back(sizes[s]);
    const auto count = checked_count(shape);
    if (!count || *count > (int64_t{1} << 45))
      return fail(Code::size_overflow, "value '" + b.name + "'", "an intermediate value is too large")
          .expected("at most 2^45 elements")
          .found(count ? std::to_string(*count) : "2^63 or more")
          .advice("give smaller inputs");
    blocks.push_back({k, static_cast<uint64_t>(round_up(bytes_of(b.dtype, *count) + static_cast<int64_t>(kSlack), 64)) + 2 * margin, 0});
  }
  // Largest first, each at the lowest place that is free during its life.
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.buffer < b.buffer; });
  std::vector<Block> placed;  // by offset
  for (Block& block : blocks) {
    const BufferInfo& mine = program.buffers[block.buffer];
    uint64_t at = 0;
    for (const Block& other : placed) {
      const BufferInfo& theirs = program.buffers[other.buffer];
      if (theirs.last < mine.first || mine.last < theirs.first) continue;
      if (at + block.bytes <= other.offset) break;
      at = std::max(at, other.offset + other.bytes);
    }
    block.offset = at;
    layout.offsets[block.buffer] = at + margin;
    layout.bytes = std::max(layout.bytes, at + block.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block, [](const Block& a, const Block& b) { return a.offset < b.offset; }),
                  block);
  }
  return layout;
}

}  // namespace tenon::runtime
