// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "plugin/worker/process.h"

namespace tenon::plugin::worker {

/// The worker process of one library, which all engines of this process share. Where it has ended, a new one is started.
class SharedProcess {
 public:
  /// The object of that library with these limits; the same one as long as some caller holds it. Errors: not_supported for a library that
  /// is no file.
  static Result<std::shared_ptr<SharedProcess>> of(std::shared_ptr<const Library> library, const Isolation& isolation);
  SharedProcess(std::shared_ptr<const Library> library, std::string file, const Isolation& isolation)
      : library_(std::move(library)), file_(std::move(file)), isolation_(isolation) {}
  SharedProcess(const SharedProcess&) = delete;

  /// The process that runs now; starts one where there is none. Errors: those of Process::start.
  Result<std::shared_ptr<Process>> current();
  const Library& library() const { return *library_; }

 private:
  const std::shared_ptr<const Library> library_;
  const std::string file_;
  const Isolation isolation_;
  std::mutex lock_;
  std::shared_ptr<Process> process_;
};

}  // namespace tenon::plugin::worker
