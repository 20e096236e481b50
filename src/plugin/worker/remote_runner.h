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

/// Runs a node in the process of its library, which may read its operands and write its results, and nothing else of this process: operands
/// that lie in SharedMemory it reads there, others are copied to where it can; results lie in a part of its own, and are copied from there
/// or stay. Where it ended, the next run is in a new one.
class RemoteRunner final : public NodeRunner {
 public:
  /// results: their dtypes; layouts: as of Runner::make; graphs: what `run_graph` runs, in this process; null: nothing; outlives the
  /// runner. Errors: those of attach.
  static Result<std::unique_ptr<NodeRunner>> make(std::shared_ptr<RemoteObject> object, std::vector<DType> results, Layouts layouts,
                                                  int32_t tactic, InnerGraphs* graphs = nullptr);
  ~RemoteRunner() override;
  RemoteRunner(const RemoteRunner&) = delete;

  Result<void> set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places, const std::vector<bool>& wanted) override;
  void point_operand(size_t index, void* data) override { operands_[index].pointed = data; }
  void point_result(size_t index, void* data) override { results_[index].to = data; }
  void set_tactic(int32_t tactic) override { tactic_ = tactic; }
  Result<void> run(const RunResources& resources) override;
  const Tensor& late(size_t index) const override { return results_[index].late; }
  int64_t copied_bytes() const override { return copied_; }
  bool keeps_results() const override { return true; }
  void* kept(size_t index) const override { return written_.data() + results_[index].at; }

 private:
  struct Operand {
    Tensor tensor;                                 ///< empty: missing
    const void* pointed = nullptr;                 ///< where its elements are; null: in the tensor
    uint64_t at = 0;                               ///< in the part for operands, where they are copied to
    std::optional<SharedMemory::Place> read_from;  ///< where the process reads them; none: they are copied
    bool is_copied = false;                        ///< in any case: it was somewhere else than the run before
    uint64_t address = 0;                          ///< there
    bool is_missing() const { return tensor.empty_handle(); }
    uint64_t bytes() const { return is_missing() ? 0 : static_cast<uint64_t>(tensor.byte_size()); }
  };
  struct Placed {
    enum class Kind : int64_t { unwanted = 0, placed = 1, late = 2 };
    Kind kind = Kind::unwanted;
    Tensor place;
    void* to = nullptr;
    uint64_t at = 0;  ///< in the part for results
    Tensor late;
  };
  RemoteRunner(std::shared_ptr<RemoteObject> object, std::vector<DType> results, Layouts layouts, int32_t tactic, InnerGraphs* graphs);

  Result<RequestStatus> ready();
  Result<RequestStatus> attach();
  Result<RequestStatus> send_shapes();
  Result<void> lay_out();
  bool are_operands_where_sent();
  void pack_shapes();
  void share_with_graphs();
  Result<RequestStatus> ask(std::string_view function, const RunResources* resources);
  Result<RequestStatus> try_run(const RunResources& resources);
  Result<RequestStatus> take_late(const RunResources& resources);
  Error with_types(Error error) const;
  std::string blame() const;

  std::shared_ptr<RemoteObject> object_;
  std::vector<DType> dtypes_;
  Layouts layouts_;
  int32_t tactic_;
  std::unique_ptr<GraphService> graphs_;  ///< null: it has none
  std::vector<Operand> operands_;
  std::vector<Placed> results_;
  RemoteObject::Made in_;                            ///< where it is attached
  int64_t id_ = 0;                                   ///< there
  bool shapes_sent_ = false;                         ///< the shapes, there
  bool may_read_ = true;                             ///< operands where they are; false: this system does not let it
  SharedFile::Part read_, written_;                  ///< operands; results, each after and before pages that nobody may touch
  std::optional<SharedMemory> shared_results_;       ///< what is written
  std::vector<uint64_t> guards_;                     ///< those pages
  uint64_t read_address_ = 0, written_address_ = 0;  ///< of the parts, there
  int64_t copied_ = 0;
  std::string message_;
};

}  // namespace tenon::plugin::worker
