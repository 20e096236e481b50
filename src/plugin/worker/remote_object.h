// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/field.h"
#include "plugin/worker/link.h"

namespace tenon::plugin::worker {

/// A node's instance of an engine in the process of its library, and again in the next one where that has ended.
class RemoteObject {
 public:
  struct Node {
    std::string name;  ///< for messages
    std::vector<Field> fields;
    size_t operands = 0, results = 0;
  };
  /// Errors: those of Process::start and of its `create`.
  static Result<std::shared_ptr<RemoteObject>> create(const Op& op, std::shared_ptr<Link> link, Node node);
  ~RemoteObject();
  RemoteObject(const RemoteObject&) = delete;

  struct Made {
    std::shared_ptr<Process> process;
    int64_t id = 0;
  };
  /// Where it is. Errors: as create.
  Result<Made> made();
  const Node& node() const { return node_; }
  const std::string& place() const { return place_; }
  /// How often a request is sent to a new process where the old one had ended before it took the request; then that is the error.
  static constexpr int kTries = 3;
  Error no_process_error() const;

 private:
  RemoteObject(const Op& op, std::shared_ptr<Link> link, Node node);
  void request(std::string& message) const;

  const Op& op_;
  const std::shared_ptr<Link> link_;
  const Node node_;
  const std::string place_;
  std::mutex lock_;
  Made made_;
};

}  // namespace tenon::plugin::worker
