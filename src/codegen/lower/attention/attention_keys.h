// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/analysis/visible_keys.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// Keys that a tile of queries looks at: those from `begin` to `end` are seen by some, those from `clear_begin` to `clear_end` by all.
struct KeyRange {
  Reg begin = kNone, end = kNone, clear_begin = kNone, clear_end = kNone;
};

/// Of the queries from `first` to `last`. 0 <= begin <= end <= keys.
KeyRange key_range(KernelEmitter& emit, const VisibleKeys& visible, Reg first, Reg last, Reg keys);

}  // namespace tenon::codegen
