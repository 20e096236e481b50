// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
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
    case Kind::state_length: return given.lengths[line.a];
    case Kind::state_size: return given.states.empty() ? 0 : given.states[line.a][line.b];
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
  return std::any_of(buffer.shape.begin(), buffer.shape.end(), [&](Slot s) { return s >= program.input_lines; });
}

bool sized_by(const Program& program, const BufferInfo& buffer, uint32_t from, uint32_t to) {
  if (buffer.kind != BufferInfo::Kind::arena || !sized_late(program, buffer)) return false;
  const Slot last = *std::ranges::max_element(buffer.shape);
  return last >= from && last < to;
}

namespace {

struct Placement {
  uint32_t buffer = 0, first = 0, last = 0;  ///< the steps that it lives through
  uint64_t bytes = 0, offset = 0;
};

/// Finds the placed blocks that live at the same time as another: a tree over the blocks in the order of their first steps, whose nodes
/// hold the latest last step below them.
class LiveRanges {
 public:
  explicit LiveRanges(std::vector<Placement>& blocks) : blocks_(blocks), order_(blocks.size()), rank_(blocks.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::ranges::sort(order_, {}, [&](uint32_t k) { return std::pair(blocks[k].first, k); });
    for (uint32_t r = 0; r < order_.size(); ++r) rank_[order_[r]] = r;
    leaves_ = std::bit_ceil(std::max<size_t>(1, blocks.size()));
    latest_.assign(2 * leaves_, -1);
  }

  void add(uint32_t block) {
    for (size_t node = leaves_ + rank_[block]; node > 0; node /= 2) latest_[node] = std::max<int64_t>(latest_[node], blocks_[block].last);
  }

  /// Cost: the answer, times the logarithm of all blocks.
  void find_overlapping(const Placement& block, std::vector<const Placement*>& out) const { collect(1, 0, leaves_, block, out); }

 private:
  void collect(size_t node, size_t from, size_t count, const Placement& block, std::vector<const Placement*>& out) const {
    if (latest_[node] < static_cast<int64_t>(block.first) || blocks_[order_[from]].first > block.last) return;
    if (count == 1) return out.push_back(&blocks_[order_[from]]);
    collect(2 * node, from, count / 2, block, out);
    collect(2 * node + 1, from + count / 2, count / 2, block, out);
  }

  std::vector<Placement>& blocks_;
  std::vector<uint32_t> order_, rank_;
  size_t leaves_ = 1;
  std::vector<int64_t> latest_;  ///< -1: nothing placed below
};

template <class Wanted>
Result<std::vector<Placement>> blocks_of(const Program& program, const std::vector<int64_t>& sizes, uint64_t margin, Wanted wanted) {
  std::vector<Placement> blocks;
  for (uint32_t k = 0; k < program.buffers.size(); ++k) {
    const BufferInfo& b = program.buffers[k];
    if (!wanted(b)) continue;
    std::vector<int64_t> shape;
    for (Slot s : b.shape) shape.push_back(sizes[s]);
    const auto count = checked_count(shape);
    if (!count || *count > (int64_t{1} << 45))
      return fail(Code::size_overflow, "value '" + b.name + "'", "an intermediate value is too large")
          .expected("at most 2^45 elements")
          .found(count ? std::to_string(*count) : "2^63 or more")
          .advice("give smaller inputs");
    const int64_t bytes = round_up(bytes_of(b.dtype, *count) + static_cast<int64_t>(kSlack), 64);
    blocks.push_back({k, b.first, b.last, static_cast<uint64_t>(bytes) + 2 * margin, 0});
  }
  return blocks;
}

Layout layout_of(size_t buffers, std::vector<Placement> blocks, uint64_t margin) {
  Layout layout;
  layout.offsets.assign(buffers, 0);
  // Largest first, each at the lowest place that is free during its life.
  std::ranges::sort(blocks,
                    [](const Placement& a, const Placement& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.buffer < b.buffer; });
  LiveRanges lives(blocks);
  std::vector<const Placement*> overlapping;
  for (uint32_t k = 0; k < blocks.size(); ++k) {
    Placement& block = blocks[k];
    overlapping.clear();
    lives.find_overlapping(block, overlapping);
    std::ranges::sort(overlapping, {}, &Placement::offset);
    for (const Placement* other : overlapping) {
      if (block.offset + block.bytes <= other->offset) break;
      block.offset = std::max(block.offset, other->offset + other->bytes);
    }
    lives.add(k);
    layout.offsets[block.buffer] = block.offset + margin;
    layout.bytes = std::max(layout.bytes, block.offset + block.bytes);
  }
  return layout;
}

}  // namespace

Result<Layout> lay_out(const Program& program, const std::vector<int64_t>& sizes, uint64_t margin) {
  const auto known = [&](const BufferInfo& b) { return b.kind == BufferInfo::Kind::arena && !sized_late(program, b); };
  return layout_of(program.buffers.size(), TRY(blocks_of(program, sizes, margin, known)), margin);
}

Result<Layout> lay_out_late(const Program& program, uint32_t from, uint32_t to, const std::vector<int64_t>& sizes, uint64_t margin) {
  const auto known = [&](const BufferInfo& b) { return sized_by(program, b, from, to); };
  return layout_of(program.buffers.size(), TRY(blocks_of(program, sizes, margin, known)), margin);
}

}  // namespace tenon::runtime
