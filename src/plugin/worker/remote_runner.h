// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/shared_memory.h"
#include "plugin/layout/layout_conversion.h"
#include "plugin/run/node_runner.h"
#include "plugin/worker/graph_service.h"
#include "plugin/worker/remote_object.h"

namespace tenon::plugin::worker {

/// Runs a node in the worker process of its library. The worker can read the node's operands and write its results, and access no other
/// memory of this process. It maps operands that are in SharedMemory; others are copied to a part of the file that both processes share.
/// Results are written to another part of that file; they are copied from there or stay there. Where the worker has ended, the next run
/// starts a new one.
class RemoteRunner final : public NodeRunner {
 public:
  /// results: their dtypes; layouts: as of Runner::make; graphs: what `run_graph` runs, in this process; null: nothing; outlives the
  /// runner. Errors: those of attach.
  static Result<std::unique_ptr<NodeRunner>> make(std::shared_ptr<RemoteObject> object, std::vector<DType> results, Layouts layouts,
                                                  int32_t tactic, InnerGraphs* graphs = nullptr);
  ~RemoteRunner() override;
  RemoteRunner(const RemoteRunner&) = delete;

  Result<void> set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places, const std::vector<bool>& wanted) override;
  void point_operand(size_t index, void* data) override { operands_[index].data = data; }
  void point_result(size_t index, void* data) override { results_[index].destination = data; }
  void set_tactic(int32_t tactic) override { tactic_ = tactic; }
  Result<void> run(const RunResources& resources) override;
  const Tensor& late(size_t index) const override { return results_[index].late; }
  int64_t copied_bytes() const override { return copied_; }
  bool keeps_results() const override { return true; }
  void* kept_result(size_t index) const override { return written_.data() + results_[index].offset; }

 private:
  struct Operand {
    Tensor tensor;                                 ///< empty: missing
    const void* data = nullptr;                    ///< its elements, set by point_operand; null: those of `tensor`
    uint64_t offset = 0;                           ///< in read_, where the elements are copied to
    std::optional<SharedMemory::Place> read_from;  ///< memory that the worker maps; none: the elements are copied
    bool is_copied = false;                        ///< always: its address changed from one run to the next
    uint64_t worker_address = 0;                   ///< of the elements, in the worker
    bool is_missing() const { return tensor.empty_handle(); }
    uint64_t bytes() const { return is_missing() ? 0 : static_cast<uint64_t>(tensor.byte_size()); }
  };
  /// unwanted: nothing reads the result; placed: its sizes are known; late: they depend on data.
  struct ResultSlot {
    enum class Kind : int64_t { unwanted = 0, placed = 1, late = 2 };
    Kind kind = Kind::unwanted;
    Tensor place;                 ///< of a placed result: its type, and the memory given to set_shapes
    void* destination = nullptr;  ///< where the caller wants the result; null: it stays in written_
    uint64_t offset = 0;          ///< in written_
    Tensor late;                  ///< of a late result: its value after a run
  };
  RemoteRunner(std::shared_ptr<RemoteObject> object, std::vector<DType> results, Layouts layouts, int32_t tactic, InnerGraphs* graphs);

  /// Attaches and sends shapes, where that is not done.
  Result<RequestStatus> ready();
  Result<RequestStatus> attach();
  Result<RequestStatus> send_shapes();
  Result<void> place_tensors();
  bool are_operands_unmoved();
  void pack_shapes();
  void add_memory_of_graphs();
  Result<RequestStatus> send_request(std::string_view function, const RunResources* resources);
  Result<RequestStatus> try_run(const RunResources& resources);
  Result<RequestStatus> fetch_late_results(const RunResources& resources);
  Error with_types(Error error) const;
  std::string illegal_access_text() const;

  std::shared_ptr<RemoteObject> object_;
  std::vector<DType> dtypes_;
  Layouts layouts_;
  int32_t tactic_;
  std::unique_ptr<GraphService> graphs_;  ///< null: it has none
  std::vector<Operand> operands_;
  std::vector<ResultSlot> results_;
  RemoteObject::Instance attached_;                  ///< the object that the runner is attached to, and its process
  int64_t runner_id_ = 0;                            ///< number of the runner in that process
  bool shapes_sent_ = false;                         ///< the runner there has the current shapes
  bool may_read_ = true;                             ///< the worker can map operands; false: the system refuses it
  SharedFile::Part read_, written_;                  ///< copied operands; results, each between two guard pages
  std::optional<SharedMemory> shared_results_;       ///< the memory of written_, which workers of other libraries may map as operands
  std::vector<uint64_t> guards_;                     ///< offsets of the guard pages in written_
  uint64_t read_address_ = 0, written_address_ = 0;  ///< of read_ and written_ in the worker
  int64_t copied_ = 0;
  std::string message_;
};

}  // namespace tenon::plugin::worker
