// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "llm/text/vocabulary.h"

namespace tenon::llm {

/// A part of a word during byte pair encoding: a token, or characters that may become part of one.
struct Symbol {
  TokenId id = kNoToken;
  uint32_t begin = 0, length = 0;    ///< in bytes of the word; length 0: merged into the previous symbol
  int32_t previous = -1, next = -1;  ///< neighbors, by index; -1 at the ends
};

/// The token that two neighboring symbols become, and when; `id` is kNoToken where they are not merged.
struct Merge {
  double order = 0;  ///< the pair with the least is merged first
  TokenId id = kNoToken;
};

/// Working memory of merge_symbols(), reused from word to word.
struct MergeQueue {
  struct Candidate {
    double order;
    int32_t left;
    uint32_t length;  ///< of both together: a candidate whose symbols have grown is stale
    TokenId id;
    bool operator<(const Candidate& other) const { return order != other.order ? order > other.order : left > other.left; }
  };
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

/// Merges neighbors of `queue.symbols` until none is left to merge: the least order first, of equal ones the leftmost. Those that remain
/// have length above 0; the first symbol always does. merge_of(left, right) is the Merge of two symbols. Cost: n log n of n symbols.
/// Source: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units".
template <class MergeOf>
void merge_symbols(MergeQueue& queue, const MergeOf& merge_of) {
  auto& symbols = queue.symbols;
  auto& heap = queue.heap;
  heap.clear();
  const auto offer = [&](int32_t left) {
    const int32_t right = symbols[static_cast<size_t>(left)].next;
    if (right < 0) return;
    const Symbol &a = symbols[static_cast<size_t>(left)], &b = symbols[static_cast<size_t>(right)];
    const Merge merge = merge_of(a, b);
    if (merge.id != kNoToken) heap.push_back({merge.order, left, a.length + b.length, merge.id});
  };
  for (size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].previous = static_cast<int32_t>(i) - 1;
    symbols[i].next = i + 1 < symbols.size() ? static_cast<int32_t>(i) + 1 : -1;
  }
  for (size_t i = 0; i < symbols.size(); ++i) offer(static_cast<int32_t>(i));
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const MergeQueue::Candidate best = heap.back();
    heap.pop_back();
    Symbol& left = symbols[static_cast<size_t>(best.left)];
    if (left.length == 0 || left.next < 0) continue;
    Symbol& right = symbols[static_cast<size_t>(left.next)];
    if (left.length + right.length != best.length) continue;
    left.id = best.id;
    left.length = best.length;
    left.next = right.next;
    right.length = 0;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = best.left;
    for (const int32_t first : {left.previous, best.left}) {
      if (first < 0) continue;
      const size_t count = heap.size();
      offer(first);
      if (heap.size() != count) std::push_heap(heap.begin(), heap.end());
    }
  }
}

}  // namespace tenon::llm
