// SPDX-License-Identifier: Apache-2.0
// A square of registers, transposed by shuffles that are one instruction each: single elements move inside parts of 128 bits, then whole
// parts move between registers.
#include "codegen/llvm/lower.h"

namespace tenon::codegen::machine {

namespace {

constexpr int kPartBits = 128;

/// Interleaves elements of a and b: of each part of `part` lanes, the half that begins at lane `from`.
V interleaved(V a, V b, int part, int from) {
  llvm::SmallVector<int, 64> lanes;
  for (int base = 0; base < a.lanes(); base += part)
    for (int k = base + from; k < base + from + part / 2; ++k) lanes.append({k, a.lanes() + k});
  return a.with(a.b->CreateShuffleVector(a.v, b.v, lanes));
}

/// Parts first, first + 2, ... of a, followed by those of b.
V every_second(V a, V b, int part, int first) {
  llvm::SmallVector<int, 64> lanes;
  for (int base = first * part; base < 2 * a.lanes(); base += 2 * part)
    for (int k = base; k < base + part; ++k) lanes.push_back(k);
  return a.with(a.b->CreateShuffleVector(a.v, b.v, lanes));
}

using Rows = std::vector<V>;

/// Transposes within each part of `part` registers: element (i, j) becomes (j, i).
Rows with_parts_transposed(Rows rows) {
  const int part = static_cast<int>(rows.size());
  for (int round = 1; round < part; round *= 2) {
    Rows next;
    for (int i = 0; i < part / 2; ++i)
      for (const int from : {0, part / 2}) next.push_back(interleaved(rows[i], rows[i + part / 2], part, from));
    rows = std::move(next);
  }
  return rows;
}

/// Transposes parts across registers, of which there are as many as parts in a register: part (i, j) becomes (j, i).
Rows with_parts_exchanged(Rows rows, int part) {
  for (size_t round = 1; round < rows.size(); round *= 2) {
    Rows next;
    for (const int first : {0, 1})
      for (size_t i = 0; i < rows.size(); i += 2) next.push_back(every_second(rows[i], rows[i + 1], part, first));
    rows = std::move(next);
  }
  return rows;
}

}  // namespace

void KernelLowering::transpose(const TileInstr& in) {
  const int lanes = in.type.lanes, part = std::min(lanes, kPartBits / bits_of(in.type.element));
  Rows rows;
  for (int from = 0; from < lanes; from += part) {
    Rows some;
    for (int k = from; k < from + part; ++k) some.push_back(reg(in.args[static_cast<size_t>(k)]));
    for (V v : with_parts_transposed(std::move(some))) rows.push_back(v);
  }
  for (int column = 0; column < part; ++column) {
    Rows some;
    for (int k = column; k < lanes; k += part) some.push_back(rows[static_cast<size_t>(k)]);
    some = with_parts_exchanged(std::move(some), part);
    for (size_t k = 0; k < some.size(); ++k) registers_[in.results[column + k * static_cast<size_t>(part)]] = some[k];
  }
}

}  // namespace tenon::codegen::machine
