// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "codegen/analysis/visible_keys.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// Ranges of keys for a tile of queries: [begin, end) has all keys that are visible to some of the queries, [clear_begin, clear_end) those
/// that are visible to all.
struct KeyRange {
  Reg begin = kNone, end = kNone, clear_begin = kNone, clear_end = kNone;
};

/// The ranges for queries `first` to `last`, inclusive. 0 <= begin <= end <= keys. load: emits a KeyBound's `loaded`.
KeyRange key_range(KernelEmitter& emit, const VisibleKeys& visible, Reg first, Reg last, Reg keys,
                   const std::function<Reg(const Expr&)>& load);

}  // namespace tenon::codegen
