// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/field.h"
#include "plugin/worker/shared_process.h"

namespace tenon::plugin::worker {

/// A plugin object (Object) of one node and engine in the worker process of its library. Where that process has ended, the object is
/// created again in the next one.
class RemoteObject {
 public:
  struct Node {
    std::string name;  ///< for messages
    std::vector<Field> fields;
    size_t operands = 0, results = 0;
  };
  /// Errors: those of Process::start and of its `create`.
  static Result<std::shared_ptr<RemoteObject>> create(const Op& op, std::shared_ptr<SharedProcess> shared_process, Node node);
  ~RemoteObject();
  RemoteObject(const RemoteObject&) = delete;

  /// The object in one process. id: its number there.
  struct Instance {
    std::shared_ptr<Process> process;
    int64_t id = 0;
  };
  /// The object in the process that runs now. Errors: as create.
  Result<Instance> instance();
  const Node& node() const { return node_; }
  const std::string& place() const { return place_; }
  /// How many processes a request is sent to, where each ends before it takes the request; then the error is no_process_error().
  static constexpr int kTries = 3;
  Error no_process_error() const;

 private:
  RemoteObject(const Op& op, std::shared_ptr<SharedProcess> shared_process, Node node);
  void write_create_request(std::string& message) const;

  const Op& op_;
  const std::shared_ptr<SharedProcess> shared_process_;
  const Node node_;
  const std::string place_;
  std::mutex lock_;
  Instance instance_;
};

}  // namespace tenon::plugin::worker
