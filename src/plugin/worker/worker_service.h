// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "plugin/library.h"
#include "plugin/run/runner.h"
#include "plugin/worker/exchange.h"
#include "plugin/worker/host_graphs.h"
#include "plugin/worker/mapping.h"
#include "plugin/worker/packing.h"

namespace tenon::plugin::worker {

/// The library of a worker, and the objects and runners of its host. Safe from several threads, of which no two use one
/// runner at once.
class WorkerService {
 public:
  /// host: the process that sends requests.
  WorkerService(int host, Logger logger) : host_(host), logger_(std::move(logger)) {}

  /// Serves one request and packs its answer. Errors: those of the library.
  Result<void> answer(Verb verb, Unpacker& from, Packer& to, Lane& lane);

 private:
  struct HostedRunner {
    std::unique_ptr<HostGraphs> graphs;  ///< null: it has none
    std::unique_ptr<Runner> runner;
    std::vector<DType> results;
    std::vector<bool> is_late;      ///< of each result: its size depends on data, so the host fetches it after the run
    Mapping read, written;          ///< operands that are copied here; results
    std::vector<Mapping> operands;  ///< operands that are mapped from the host's shared memory
    std::vector<void*> data;        ///< of all operands; null of one that is missing
  };

  // The requests; see Verb. `from` holds the arguments, `to` takes the results.
  Result<void> open(Unpacker& from);
  Result<void> create(Unpacker& from, Packer& to);
  Result<void> attach(Unpacker& from, Packer& to);
  Result<void> set_shapes(Unpacker& from, Packer& to);
  /// Maps memory of the host for reading: that range of its file descriptor `file`. Null: the system does not allow it.
  const std::byte* host_memory(int file, uint64_t offset, uint64_t bytes, HostedRunner& to) const;
  Result<void> run(Unpacker& from, Packer& to, Lane& lane);
  Result<void> late(Unpacker& from);
  HostedRunner& runner_of(int64_t id);

  const int host_;  ///< id of the host's process
  const Logger logger_;
  std::shared_ptr<const Library> library_;
  std::mutex lock_;
  std::deque<Op> ops_;  ///< copies of ops with the namespaces of the host's registry
  int64_t last_id_ = 0;
  std::map<int64_t, std::shared_ptr<const Object>> objects_;
  std::map<int64_t, HostedRunner> runners_;
};

}  // namespace tenon::plugin::worker
