// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "plugin/run/inner_graphs.h"
#include "plugin/worker/common_memory.h"
#include "plugin/worker/control_block.h"
#include "plugin/worker/mapping.h"
#include "plugin/worker/packing.h"

namespace tenon::plugin::worker {

/// The worker's side of a node's inner graphs, which the host runs (GraphService): requests runs in the lane in which the node's own run
/// was asked for. Tensors stay where they are if the host has that memory too; others are copied to a room that both have, and back.
class HostGraphs final : public InnerGraphs {
 public:
  /// from: what GraphService packed.
  explicit HostGraphs(Unpacker& from);

  CommonMemory& memory() { return memory_; }
  /// Sets the lane of the node's run; null: it does not run.
  void serve(Lane* lane) { lane_ = lane; }
  uint32_t count() const override { return static_cast<uint32_t>(ports_.size()); }
  Ports ports(uint32_t number) const override { return ports_[number]; }
  Result<void> run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) override;

 private:
  /// Errors: what the host says.
  Result<Unpacker> ask();
  Result<void> make_room(uint64_t bytes);
  /// Where they are; in_room: bytes there that are taken.
  void place(std::span<const Tensor> tensors, bool are_written, uint64_t& in_room);

  std::vector<Ports> ports_;
  CommonMemory memory_;
  struct Placed {
    CommonMemory::Name name;
    bool is_in_room = false;  ///< and name.offset counts from its start
  };
  std::vector<Placed> placed_;  ///< operands, then results, of the call
  Mapping room_;
  uint64_t room_offset_ = 0;
  Lane* lane_ = nullptr;
  std::string message_;
};

}  // namespace tenon::plugin::worker
