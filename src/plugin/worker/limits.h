// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plugin/worker/control_block.h"

namespace tenon::plugin::worker {

/// From now on the process may take that much in addition to what it has and the stacks of its threads. 0: no limit.
void limit_memory(uint64_t bytes);
/// A thread of this program is about to start: its stack is none of the plugin's memory.
void allow_stack();
/// Whether it holds nearly all that it may.
bool is_nearly_full();

/// What ends the process is noted in `control` first: by a signal, or by a call of exit().
void note_ends(ControlBlock& control);
/// The calling thread serves that lane; its signals have a stack of their own.
void note_lane(Lane& lane);
/// Ends the process where the one that started it, `host`, is gone.
void watch_host(int host);

}  // namespace tenon::plugin::worker
