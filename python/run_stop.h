// SPDX-License-Identifier: Apache-2.0
// Cancels runs: by a StopToken of the caller, and by Ctrl-C on the main thread. Includes the public interface alone.
#pragma once
#include <tenon/tenon.h>

#include <mutex>
#include <optional>
#include <vector>

namespace tenon_python {

/// tenon.StopToken: stops the runs that use it, those that begin later too, until reset(). For any number of threads.
class StopSource {
 public:
  void stop();
  /// Allows runs again; runs that were stopped are not resumed.
  void reset();
  bool is_stopped() const;

 private:
  friend class RunStop;
  void add(tenon::StopToken& run);
  void remove(tenon::StopToken& run);

  mutable std::mutex lock_;
  bool stopped_ = false;
  std::vector<tenon::StopToken*> running_;
};

/// The stop token of one run, in its scope. On the process's main thread SIGINT stops it, before Python's own handler runs, where
/// Python has one.
/// Cost: without a source and off the main thread nothing; on it two system calls.
class RunStop {
 public:
  /// source: null, or outlives it.
  explicit RunStop(StopSource* source);
  ~RunStop();
  RunStop(const RunStop&) = delete;
  RunStop& operator=(const RunStop&) = delete;

  /// The run's token; null: nothing can stop the run.
  const tenon::StopToken* token() const { return token_; }
  /// Whether SIGINT alone has stopped the run. If so the token no longer stops it.
  bool take_interrupt();

 private:
  StopSource* source_;
  std::optional<tenon::StopToken> own_;
  tenon::StopToken* token_ = nullptr;
  bool watches_interrupts_ = false;
};

}  // namespace tenon_python
