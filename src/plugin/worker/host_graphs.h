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

/// The worker's side of a node's inner graphs, which the host runs (GraphService): requests runs over the lane of the node's own run.
/// Tensors in memory that the host maps too are not copied; others are copied to shared memory and back.
class HostGraphs final : public InnerGraphs {
 public:
  /// from: the data of GraphService::pack_ports.
  explicit HostGraphs(Unpacker& from);

  /// Memory that both processes map; WorkerService sets it for each set_shapes.
  CommonMemory& memory() { return memory_; }
  /// Sets the lane of the node's run; null: it does not run.
  void serve(Lane* lane) { lane_ = lane; }
  uint32_t count() const override { return static_cast<uint32_t>(ports_.size()); }
  Ports ports(uint32_t number) const override { return ports_[number]; }
  Result<void> run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) override;

 private:
  /// Sends `message_` to the host and returns its response. Errors: those of the host.
  Result<Unpacker> request_from_host();
  /// Enlarges room_ to at least that size.
  Result<void> make_room(uint64_t bytes);
  /// Appends the location of each tensor to locations_: in common memory, else in room_. room_used: bytes of room_ in use, which it
  /// increases.
  void locate(std::span<const Tensor> tensors, bool are_written, uint64_t& room_used);

  std::vector<Ports> ports_;
  CommonMemory memory_;
  /// Where the host finds a tensor.
  struct Location {
    CommonMemory::Name name;
    bool is_in_room = false;  ///< name.offset is relative to the start of room_
  };
  std::vector<Location> locations_;  ///< of the operands, then of the results, of the current call
  Mapping room_;                     ///< shared memory for tensors that are in memory of this process alone
  uint64_t room_offset_ = 0;         ///< of room_ in the shared file
  Lane* lane_ = nullptr;             ///< of the run of the node; null: it does not run
  std::string message_;              ///< the last one sent or received
};

}  // namespace tenon::plugin::worker
