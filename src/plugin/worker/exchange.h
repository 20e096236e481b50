// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "plugin/worker/control_block.h"

namespace tenon::plugin::worker {

/// The version of this protocol: changes with verbs, their arguments and ControlBlock. It is the first argument of `open` in every version.
constexpr int64_t kVersion = 3;

/// The requests of the host. Its arguments follow, as the functions of WorkerService take them.
enum class Verb : int64_t { open = 0, create = 1, destroy = 2, attach = 3, detach = 4, set_shapes = 5, run = 6, late = 7 };

/// The kind of a message of the worker, and of the host's answer to one. The first two end a request. The others are requests of the worker
/// while it runs a node: shared memory of a given size; a run of one of the node's graphs.
enum class Reply : int64_t { failed = 0, done = 1, room = 2, graph = 3 };

/// Writes the next piece of a message to the lane; returns the rest.
std::string_view put_piece(Lane& lane, std::string_view message);
/// Appends the piece in the lane to a message. Returns whether it was the last one.
bool take_piece(const Lane& lane, std::string& message);

/// Worker side: waits for a message of the host and reads all of its pieces.
void receive(Lane& lane, std::string& message);
/// Worker side: sends the host a message and passes it the lane.
void send(Lane& lane, std::string_view message);

}  // namespace tenon::plugin::worker
