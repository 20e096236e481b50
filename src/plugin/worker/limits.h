// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plugin/worker/control_block.h"

namespace tenon::plugin::worker {

/// Limits the memory of the process to that many bytes in addition to its current memory and the stacks of its threads. 0: no limit.
void limit_memory(uint64_t bytes);
/// Raises the memory limit by the stack of one thread. Called before a thread of this program starts.
void raise_limit_for_stack();
/// Whether memory use is close to the limit.
bool is_nearly_full();

/// Installs handlers that record in `control` how the process ends: by which signal, or by exit().
void install_end_handlers(ControlBlock& control);
/// Sets the lane that the calling thread serves, and a signal stack for the thread.
void set_thread_lane(Lane& lane);
/// Ends the process where the one that started it, `host`, is gone.
void watch_host(int host);

}  // namespace tenon::plugin::worker
