// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/loops/nest.h"

namespace tenon::codegen {

/// Marks sums of products that the contract family runs.
/// Needs: one nest a group.  Promises: only `kind` and `roles` change.  Not after `absorb_epilogues` (it looks at the kind).
void find_contractions(Plan& plan);

/// A map that is the only reader of a contraction's result runs on its tile, at the place of the map.
/// Not before `find_contractions`; not after `inline_maps` (a bias would be evaluated in each loop of a norm instead).
void absorb_epilogues(Plan& plan);

/// Evaluates views and cheap maps where they are read, and drops them where all readers agree.
/// Cost: linear in the accesses, for a bounded number of readers a value.
void inline_maps(Plan& plan);

/// Evaluates in attention what would take a number a pair of query and key otherwise, as long as that costs no more than the products.
/// Not before `store_diagonals`: what it stores is cheaper to read than to compute.
void inline_masks(Plan& plan);

/// Attention writes its result where a transposition that alone reads it would have copied it to.
/// Not before `inline_maps`: what its readers take over as they read needs no copy.
void place_results(Plan& plan);

/// Maps that read a product's result as columns side by side (the gates of a recurrent layer, the halves of a gated one) run on its tiles,
/// and nothing of the result itself is stored.
/// Needs: final accesses; weights that are constant, whose lanes then stand column by column in turns.  Not before `winograd`, which does
/// without columns.  Cost: linear in the accesses.
void absorb_columns(Plan& plan);

/// Joins loops over the same outer axes (the passes of a softmax or a norm) into one kernel a row.
void group_rows(Plan& plan);

}  // namespace tenon::codegen
