// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "plugin/worker/process.h"

namespace tenon::plugin::worker {

/// The process of one library, wherever engines of this process use it: one at a time, another one where that has ended.
class Link {
 public:
  /// One for each library and what it may take, for as long as somebody has it. Errors: not_supported for what is no file.
  static Result<std::shared_ptr<Link>> to(std::shared_ptr<const Library> library, const Isolation& isolation);
  Link(std::shared_ptr<const Library> library, std::string file, const Isolation& isolation)
      : library_(std::move(library)), file_(std::move(file)), isolation_(isolation) {}
  Link(const Link&) = delete;

  /// Errors: those of Process::start.
  Result<std::shared_ptr<Process>> process();
  const Library& library() const { return *library_; }

 private:
  const std::shared_ptr<const Library> library_;
  const std::string file_;
  const Isolation isolation_;
  std::mutex lock_;
  std::shared_ptr<Process> process_;
};

}  // namespace tenon::plugin::worker
