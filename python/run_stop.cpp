// SPDX-License-Identifier: Apache-2.0
#include "run_stop.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

namespace tenon_python {

namespace {

/// A run of the main thread. Runs nest where a plugin in Python runs an engine.
struct MainRun {
  tenon::StopToken token;
  std::atomic<bool> interrupted{false};
};

constexpr int kMostNested = 16;

/// Never destroyed, because a signal handler that another thread runs may reach a run that has just ended.
std::array<MainRun, kMostNested>& main_runs() {
  static auto& runs = *new std::array<MainRun, kMostNested>;
  return runs;
}

std::array<MainRun, kMostNested>* const runs_of_handler = &main_runs();
std::atomic<int> depth{0};  ///< runs of the main thread; written by it alone
struct sigaction previous;  ///< Python's handler, as a rule

bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/// Async-signal-safe.
void on_interrupt(int signal, siginfo_t* info, void* context) {
  for (int k = 0; k < depth.load(); ++k) {
    (*runs_of_handler)[static_cast<size_t>(k)].interrupted.store(true);
    (*runs_of_handler)[static_cast<size_t>(k)].token.stop();
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) previous.sa_sigaction(signal, info, context);
  else if (has_handler(previous)) previous.sa_handler(signal);
}

/// False where SIGINT ends the process or is ignored. A signal that comes before `previous` is written finds the handler of the run before.
bool install_handler() {
  static const bool read = sigaction(SIGINT, nullptr, &previous) == 0;
  if (!read || !has_handler(previous)) {
    if (sigaction(SIGINT, nullptr, &previous) != 0 || !has_handler(previous)) return false;
  }
  struct sigaction ours = previous;
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags |= SA_SIGINFO;
  if (sigaction(SIGINT, &ours, &previous) != 0) return false;
  if (has_handler(previous)) return true;
  sigaction(SIGINT, &previous, nullptr);  // it has changed since
  return false;
}

bool is_main_thread() {
  thread_local const bool is_main = syscall(SYS_gettid) == getpid();
  return is_main;
}

}  // namespace

void StopSource::stop() {
  const std::lock_guard held(lock_);
  stopped_ = true;
  for (tenon::StopToken* run : running_) run->stop();
}

void StopSource::reset() {
  const std::lock_guard held(lock_);
  stopped_ = false;
}

bool StopSource::is_stopped() const {
  const std::lock_guard held(lock_);
  return stopped_;
}

void StopSource::add(tenon::StopToken& run) {
  const std::lock_guard held(lock_);
  running_.push_back(&run);
  if (stopped_) run.stop();
}

void StopSource::remove(tenon::StopToken& run) {
  const std::lock_guard held(lock_);
  running_.erase(std::ranges::find(running_, &run));
}

RunStop::RunStop(StopSource* source) : source_(source) {
  const int place = depth.load();
  if (is_main_thread() && place < kMostNested && (place > 0 || install_handler())) {
    MainRun& run = main_runs()[static_cast<size_t>(place)];
    run.interrupted.store(false);
    run.token.reset();
    token_ = &run.token;
    watches_interrupts_ = true;
    depth.store(place + 1);
  } else if (source != nullptr) {
    token_ = &own_.emplace();
  }
  if (source_ != nullptr) source_->add(*token_);
}

RunStop::~RunStop() {
  if (source_ != nullptr) source_->remove(*token_);
  if (!watches_interrupts_) return;
  depth.store(depth.load() - 1);
  if (depth.load() == 0) sigaction(SIGINT, &previous, nullptr);
}

bool RunStop::take_interrupt() {
  if (!watches_interrupts_) return false;
  if (!main_runs()[static_cast<size_t>(depth.load() - 1)].interrupted.exchange(false)) return false;
  if (source_ != nullptr && source_->is_stopped()) return false;
  token_->reset();
  if (source_ == nullptr || !source_->is_stopped()) return true;
  token_->stop();
  return false;
}

}  // namespace tenon_python
