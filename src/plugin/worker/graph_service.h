// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plugin/run/inner_graphs.h"
#include "plugin/worker/common_memory.h"
#include "plugin/worker/mapping.h"
#include "plugin/worker/packing.h"

namespace tenon::plugin::worker {

/// The host's side of a node's inner graphs: runs them for the process that the node is in (HostGraphs), on requests made during a run.
/// Validates every message: results go where that process may write, and nowhere else.
class GraphService {
 public:
  /// graphs: outlive this.
  explicit GraphService(InnerGraphs& graphs) : graphs_(graphs) {}
  GraphService(const GraphService&) = delete;

  /// Writes the number of graphs, and for each the numbers of operands and results.
  void pack_ports(Packer& to) const;
  /// Sets the file that is shared with the process of the node.
  void enter(std::shared_ptr<SharedFile> file);
  /// Called when a run of the node begins. The caller adds the memory in which tensors of its graphs may be, in addition to `room_`.
  CommonMemory& begin() {
    memory_.clear();
    copied_ = 0;
    return memory_;
  }
  /// Bytes of tensors that the process copied to `room_` and back in this run.
  int64_t copied_bytes() const { return copied_; }
  /// Executes a request; `message` becomes the response. False: the request is malformed.
  bool answer(std::string& message);

 private:
  /// Serves Reply::room: allocates room_ of the size in the request, and answers its offset and bytes.
  Result<void> make_room(Unpacker& from, Packer& to);
  /// Reads the types and locations of the tensors. False: one is malformed, or not in memory that the process may use for it.
  bool read_tensors(Unpacker& from, std::vector<Tensor>& tensors, bool is_written);

  InnerGraphs& graphs_;
  std::shared_ptr<SharedFile> file_;
  SharedFile::Part room_;                   ///< shared memory for tensors that are in private memory of the process
  CommonMemory memory_, in_room_;           ///< where tensors may be: in memory of the run; in room_
  std::vector<Tensor> operands_, results_;  ///< of the last call; kept to avoid allocations
  std::string answer_;                      ///< the response being written
  int64_t copied_ = 0;                      ///< see copied_bytes()
};

}  // namespace tenon::plugin::worker
