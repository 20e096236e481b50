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

  /// How many graphs, and of each its operands and results.
  void pack_ports(Packer& to) const;
  /// The node is in another process, which shares that file.
  void enter(std::shared_ptr<SharedFile> file);
  /// A run of the node begins. The caller adds the memory, other than this service's own, in which tensors of its graphs may lie.
  CommonMemory& begin() {
    memory_.clear();
    copied_ = 0;
    return memory_;
  }
  /// Bytes of tensors of this run that the process copied to the room, and back.
  int64_t copied_bytes() const { return copied_; }
  /// message: a request; becomes the answer. False: it is malformed.
  bool answer(std::string& message);

 private:
  Result<void> make_room(Unpacker& from, Packer& to);
  bool take(Unpacker& from, std::vector<Tensor>& tensors, bool is_written);

  InnerGraphs& graphs_;
  std::shared_ptr<SharedFile> file_;
  SharedFile::Part room_;  ///< for tensors that lie where only the process has them
  CommonMemory memory_, in_room_;
  std::vector<Tensor> operands_, results_;  ///< of the call, whose memory is kept
  std::string answer_;
  int64_t copied_ = 0;
};

}  // namespace tenon::plugin::worker
