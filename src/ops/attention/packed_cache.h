// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/builder.h"

namespace tenon::ops {

/// Where the tokens of sequences are that lie one after the other, from their lengths, i32 or i64 [sequences].
class PackedSequences {
 public:
  /// tokens: how many there are, i64 of rank 0. past: tokens that each sequence had before, as lengths; none: 0.
  /// With a past the lengths must sum to `tokens`, else a run is an error (index_out_of_range); without one, tokens after the last
  /// sequence count as a sequence.
  PackedSequences(ir::Builder& build, ir::ValueId tokens, ir::ValueId lengths, ir::ValueId past);

  ir::ValueId number() const { return number_; }  ///< of each token's sequence: i64[tokens]
  ir::ValueId position() const;                   ///< of each token in its sequence, those of the past before it: i64[tokens]
  ir::ValueId end() const { return end_; }        ///< past and new tokens of each sequence, with a past: i64[sequences]

 private:
  ir::Builder& build_;
  ir::ValueId place_, ends_, past_, number_, end_;
};

/// K and V of all sequences in one operand, into which the rows of new tokens are scattered: [sequences, 2, heads, rows, size], or in
/// pages, [pages of all, 2, heads, rows of a page, size], of which `pages`, i32 or i64 [sequences, pages of one], has the numbers.
/// A row that a sequence has no room for, a page of that number that is not there, and negative ones are errors at run
/// (index_out_of_range). Pages after a sequence's last token are not looked up. No page may belong to two sequences that write to it.
class PackedCache {
 public:
  /// heads, size: of K and V. pages: none for a cache without pages.
  PackedCache(ir::Builder& build, ir::ValueId past, ir::ValueId pages, const PackedSequences& sequences, int64_t heads, int64_t size);

  /// The cache with these rows, [1, tokens, heads * size] each, at the position of each token.
  ir::ValueId joined(ir::ValueId key, ir::ValueId value) const;
  /// K (0) or V (1) of a result of joined(): [sequences, heads, keys, size].
  ir::ValueId rows(ir::ValueId cache, int64_t which) const;
  /// i64[tokens] to bool[sequences, 1, tokens, keys]: rows of the token's sequence after `first` (none: all) up to `last`, a position each.
  ir::ValueId visible(ir::ValueId first, ir::ValueId last) const;
  /// The queries of all tokens for each sequence: [1, heads, tokens, size] to [sequences, heads, tokens, size].
  ir::ValueId repeated(ir::ValueId query) const;
  /// Of the results of all tokens for each sequence those of its own: [sequences, tokens, columns] to [1, tokens, columns].
  ir::ValueId own(ir::ValueId y) const;

 private:
  /// The number of the page of each token, i64[tokens]; positions are not negative.
  ir::ValueId page_of(ir::ValueId position) const;
  /// index; `size`, which is an error as an index, for negative ones.
  ir::ValueId known_or_outside(ir::ValueId index, ir::ValueId size) const;

  ir::Builder& build_;
  const PackedSequences& sequences_;
  int64_t heads_, size_;
  ir::ValueId past_, pages_;
  ir::ValueId count_;  ///< of sequences, i64 of rank 0
  ir::ValueId block_;  ///< rows of a page, or of the cache of a sequence, i64 of rank 0
  ir::ValueId keys_;   ///< rows of a sequence, i64 of rank 0
};

}  // namespace tenon::ops
