// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/process.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "plugin/run/runner.h"
#include "plugin/worker/graph_service.h"
#include "plugin/worker/packing.h"

namespace tenon::plugin::worker {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::chrono::microseconds kFirstPollInterval = 200us, kMaxPollInterval = 5ms;  ///< between checks whether the worker still runs
constexpr auto kGrace = 1s;                                                              ///< time that a cancelled run has to return
constexpr auto kStartTimeout = 60s;                             ///< of the program and the libraries that the plugin needs
constexpr size_t kMaxPieces = (size_t{1} << 30) / Lane::kRoom;  ///< of an answer

thread_local int graphs_running = 0;  ///< requested by processes in this thread

std::string text_of(std::chrono::milliseconds time) { return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000); }

}  // namespace

/// Holds a lane during one request.
class Process::LaneLease {
 public:
  /// number: of take_lane().
  LaneLease(Process& of, uint32_t number, bool is_nested) : of_(of), number_(number), is_nested_(is_nested) {}
  ~LaneLease() {
    {
      const std::lock_guard held(of_.lanes_lock_);
      of_.free_.push_back(number_);
      if (!is_nested_) --of_.outer_requests_;
    }
    of_.lane_free_.notify_one();
  }
  LaneLease(const LaneLease&) = delete;
  Lane& operator*() const { return of_.control().lane[number_]; }

 private:
  Process& of_;
  uint32_t number_;
  bool is_nested_;
};

/// When a request was sent, and when the stop of its run was requested.
struct Process::RequestClock {
  Clock::time_point start;
  std::optional<Clock::time_point> stopped = {};
  /// Excludes time in which this process ran an inner graph for the worker.
  void exclude(Clock::duration time) {
    start += time;
    if (stopped) *stopped += time;
  }
};

Process::Process(std::shared_ptr<SharedFile> file, Mapping control, std::unique_ptr<ChildProcess> child, const tenon_host* log,
                 const Isolation& isolation)
    : file_(std::move(file)), control_(std::move(control)), log_(log), isolation_(isolation), owner_(getpid()), child_(std::move(child)) {}

Process::~Process() = default;

Result<std::shared_ptr<Process>> Process::start(const Library& library, const std::string& file, const tenon_host* log,
                                                const Isolation& isolation) {
  auto shared = TRY(SharedFile::make(kDataStart));
  auto control = TRY(Mapping::of(shared->descriptor(), 0, kDataStart));
  const std::string program = TRY(worker_program());
  const bool is_sealed = library.sealed >= 0;
  std::vector<std::string> words{program, std::to_string(getpid())};
  std::vector<int> gives{shared->descriptor()};
  if (is_sealed) words.emplace_back(kSealed), gives.push_back(library.sealed);
  auto child = ChildProcess::start(std::move(words), {.own_group = true, .inherited_descriptors = std::move(gives)});
  if (!child)
    return fail(Code::device_failed, program, "the process for isolated plugins does not start")
        .expected("a program to start")
        .found(child.error())
        .advice("install Tenon again, or run without --isolate-plugins");
  std::shared_ptr<Process> out(new Process(std::move(shared), std::move(control), *std::move(child), log, isolation));
  std::string message;
  Packer(message) << Verb::open << kVersion << is_sealed << std::string_view(file) << std::string_view(library.sha256) << isolation.memory;
  const std::string place = "plugin library " + library.file.string();
  if (TRY(out->send_request(message, {.function = "opening", .place = place, .min_timeout = kStartTimeout})) == RequestStatus::answered)
    return out;
  return fail(Code::device_failed, place, "the process for isolated plugins ended as it began")
      .advice("run " + program + " by hand: it says what it lacks");
}

bool Process::is_lost() const { return lost_.load(std::memory_order_relaxed) || owner_ != getpid(); }

/// A nested request never waits: holders of lanes might wait for it.
Result<uint32_t> Process::take_lane(bool is_nested, const Request& request) {
  std::unique_lock held(lanes_lock_);
  const auto is_free = [&] {
    return (!free_.empty() || lane_count_ < ControlBlock::kLanes) && (is_nested || outer_requests_ < ControlBlock::kOutermost);
  };
  if (!is_nested) lane_free_.wait(held, is_free);
  else if (!is_free())
    return fail(Code::out_of_memory, request.place, "too many runs of isolated plugins are within others")
        .expected(fmt::format("at most {} runs at once in the process of a library", ControlBlock::kLanes))
        .found("another one")
        .advice("run fewer contexts at once");
  if (!is_nested) ++outer_requests_;
  if (free_.empty()) {
    free_.push_back(lane_count_++);
    control().lanes.store(lane_count_);
    wake_all(control().lanes);
  }
  const uint32_t out = free_.back();
  free_.pop_back();
  return out;
}

Result<RequestStatus> Process::send_request(std::string& message, const Request& request) {
  const bool is_nested = graphs_running > 0;
  const LaneLease lane(*this, TRY(take_lane(is_nested, request)), is_nested);
  (*lane).stop.store(0);
  RequestClock clock{.start = Clock::now()};
  if (TRY(exchange(*lane, message, request, clock)) == RequestStatus::not_taken) return RequestStatus::not_taken;
  while (Unpacker(message).as<Reply>() > Reply::done && request.graphs) TRY(serve_graph_request(*lane, message, request, clock));
  pass_on_log();
  Unpacker answer(message);
  const auto said = answer.as<Reply>();
  if (said == Reply::done) return RequestStatus::answered;
  const bool is_memory_full = answer.number() != 0;
  Error error = unpack_error(answer);
  if (said != Reply::failed || answer.is_broken()) {
    end("answered what nobody can read: it wrote over its own memory", Code::device_failed);
    return lost_error(*lane, request);
  }
  if (!is_memory_full) return error;
  end(fmt::format("holds nearly all of the {} bytes that it may take, and failed", isolation_.memory), Code::out_of_memory);
  return std::move(error).expected(fmt::format("at most {} bytes, the memory that a plugin may take", isolation_.memory));
}

Result<void> Process::serve_graph_request(Lane& lane, std::string& message, const Request& request, RequestClock& clock) {
  const auto start = Clock::now();
  ++graphs_running;
  const bool was_read = request.graphs->answer(message);
  --graphs_running;
  clock.exclude(Clock::now() - start);
  if (!was_read) {
    end("status what nobody can read: it wrote over its own memory", Code::device_failed);
    return lost_error(lane, request);
  }
  TRY(check_time(lane, request, clock));
  if (TRY(exchange(lane, message, request, clock)) == RequestStatus::not_taken) return lost_error(lane, request);
  return {};
}

Result<RequestStatus> Process::exchange(Lane& lane, std::string& message, const Request& request, RequestClock& clock) {
  for (std::string_view left = message; true;) {
    left = put_piece(lane, left);
    hand_over(lane.owner, LaneOwner::requested, lane.worker);
    if (TRY(wait(lane, request, clock)) == RequestStatus::not_taken) return RequestStatus::not_taken;
    if (left.empty()) break;
  }
  message.clear();
  for (size_t pieces = 1; !take_piece(lane, message); ++pieces) {  // counted: it may give empty ones for ever
    if (pieces == kMaxPieces) {
      end("answered without an end", Code::device_failed);
      return lost_error(lane, request);
    }
    hand_over(lane.owner, LaneOwner::requested, lane.worker);
    if (TRY(wait(lane, request, clock)) == RequestStatus::not_taken) return lost_error(lane, request);
  }
  return RequestStatus::answered;
}

Result<RequestStatus> Process::wait(Lane& lane, const Request& request, RequestClock& clock) {
  for (std::chrono::microseconds interval = kFirstPollInterval;; interval = std::min(interval * 2, kMaxPollInterval)) {
    if (await_owner(lane.owner, LaneOwner::host, lane.host, interval)) return RequestStatus::answered;
    pass_on_log();
    if (has_ended()) {
      if (lane.owner.load() == LaneOwner::host) return RequestStatus::answered;
      return lane.owner.load() == LaneOwner::requested ? Result<RequestStatus>(RequestStatus::not_taken) : lost_error(lane, request);
    }
    TRY(check_time(lane, request, clock));
  }
}

/// Passes a stop request of the run to the worker. Errors: the request took longer than the timeout.
Result<void> Process::check_time(Lane& lane, const Request& request, RequestClock& clock) {
  const auto timeout = std::max(std::min(isolation_.call_timeout, request.max_timeout), request.min_timeout);
  const RunResources* const resources = request.resources;
  if (!clock.stopped && resources && resources->stopped && resources->stopped(resources->stopped_of)) {
    clock.stopped = Clock::now();
    lane.stop.store(1);
  }
  if (clock.stopped && Clock::now() - *clock.stopped > kGrace) end("did not heed that the run was to stop", Code::cancelled);
  else if (Clock::now() - clock.start > timeout) end("did not return within " + text_of(timeout), Code::device_failed);
  else return {};
  return lost_error(lane, request);
}

bool Process::has_ended() {
  const std::lock_guard held(end_lock_);
  if (child_->status()) lost_.store(true);
  return lost_;
}

void Process::end(std::string why, Code code) {
  const std::lock_guard held(end_lock_);
  lost_.store(true);
  if (child_->status()) return;  // it was faster
  child_->end();
  why_ = std::move(why);
  why_code_ = code;
}

std::string Process::how_it_ended(const Lane& lane, Code& code) {
  const std::lock_guard held(end_lock_);
  code = why_code_;
  if (!why_.empty()) return why_;
  const int status = child_->status().value_or(0);
  std::string out = WIFSIGNALED(status) ? fmt::format("crashed (signal {}: {})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                                        : fmt::format("ended its process (exit code {})", WEXITSTATUS(status));
  const auto blamed = [](const Lane& l) { return l.blamed.load() != 0; };
  const std::span in_use(control().lane.data(), std::min(control().lanes.load(), ControlBlock::kLanes));
  if (!blamed(lane) && std::ranges::any_of(in_use, blamed)) out = "was lost: another call of its library " + out;
  if (const uint64_t held_bytes = control().data_bytes; isolation_.memory > 0 && held_bytes > isolation_.memory / 10 * 9) {
    code = Code::out_of_memory;
    out += fmt::format(", where it used {} of the {} bytes that it may take", held_bytes, isolation_.memory);
  }
  return out;
}

Error Process::lost_error(const Lane& lane, const Request& request) {
  pass_on_log();
  Code code = Code::device_failed;
  const std::string how = how_it_ended(lane, code);
  return fail(code, request.place, fmt::format("its {} {}", request.function, how))
      .expected("a call that returns")
      .found(how)
      .advice("the engine goes on: its next run starts a new process for the plugin");
}

}  // namespace tenon::plugin::worker
