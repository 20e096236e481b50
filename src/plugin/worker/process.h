// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "plugin/isolation.h"
#include "plugin/library.h"
#include "plugin/worker/exchange.h"
#include "plugin/worker/mapping.h"

namespace tenon::plugin {
struct RunResources;
}

namespace tenon::plugin::worker {

class GraphService;

/// The status of a request. not_taken: the process had ended before it took the request, so another one may be used.
enum class RequestStatus : uint8_t { answered, not_taken };

/// A worker process that has one library of plugins open and calls its functions. Safe from any number of threads. The process ends with
/// this object, and with the host's process. Once a call does not return (a crash, a timeout), the process is lost, and later requests need
/// another one.
class Process {
 public:
  /// What errors and the timeout of a call depend on.
  struct Request {
    std::string_view function;                ///< "`enqueue`"
    const std::string& place;                 ///< of the node
    const RunResources* resources = nullptr;  ///< a request to stop this run is passed on to the process; null: none
    GraphService* graphs = nullptr;           ///< graphs that it may run; null: none
    std::chrono::milliseconds min_timeout{0}, max_timeout = std::chrono::hours(24);  ///< bounds of Isolation::call_timeout for this call
  };

  /// file: of the library, absolute; its name, where it lies in sealed memory. Errors: file_missing where the program is not there; what
  /// the library says; device_failed.
  static Result<std::shared_ptr<Process>> start(const Library& library, const std::string& file, const tenon_host* log,
                                                const Isolation& isolation);
  ~Process();
  Process(const Process&) = delete;

  /// Sends a request and waits for its answer. message: a verb with its arguments; becomes the answer. Errors: those of the function;
  /// device_failed, out_of_memory, cancelled where the process did not return from it.
  Result<RequestStatus> send_request(std::string& message, const Request& request);
  /// No more requests are possible: it ended, was ended, or belongs to the process that this one was forked from.
  bool is_lost() const;
  const std::shared_ptr<SharedFile>& file() const { return file_; }
  /// The address, in the memory of the worker, of the access that ended it; 0: none.
  uint64_t fault() const { return control().address.load(); }

 private:
  class LaneLease;
  struct RequestClock;
  Process(std::shared_ptr<SharedFile> file, Mapping control, std::unique_ptr<ChildProcess> child, const tenon_host* log,
          const Isolation& isolation);
  ControlBlock& control() const { return *reinterpret_cast<ControlBlock*>(control_.data()); }
  Result<uint32_t> take_lane(bool is_nested, const Request& request);
  Result<RequestStatus> wait(Lane& lane, const Request& request, RequestClock& clock);
  Result<void> check_time(Lane& lane, const Request& request, RequestClock& clock);
  Result<RequestStatus> exchange(Lane& lane, std::string& message, const Request& request, RequestClock& clock);
  Result<void> serve_graph_request(Lane& lane, std::string& message, const Request& request, RequestClock& clock);
  bool has_ended();
  void end(std::string why, Code code);
  Error lost_error(const Lane& lane, const Request& request);
  std::string how_it_ended(const Lane& lane, Code& code);
  void pass_on_log();

  const std::shared_ptr<SharedFile> file_;
  const Mapping control_;
  const tenon_host* const log_;
  const Isolation isolation_;
  const int owner_;
  std::atomic<bool> lost_{false};

  std::mutex lanes_lock_;
  std::condition_variable lane_free_;
  std::vector<uint32_t> free_;                    ///< free lanes
  uint32_t lane_count_ = 0, outer_requests_ = 0;  ///< lanes in use or free; requests that are not within another request

  std::mutex end_lock_;
  std::unique_ptr<ChildProcess> child_;
  std::string why_;  ///< why this process ended the worker; empty: it did not
  Code why_code_ = Code::device_failed;

  std::mutex log_lock_;
  std::string unread_;  ///< the begin of a log line that is not complete yet
};

/// The program that workers run: beside the executable or library that this function is in, or in the folder bin of one above it.
/// Errors: file_missing, with the places that were looked at.
Result<std::string> worker_program();

}  // namespace tenon::plugin::worker
