// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/limits.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/threads/thread_pool.h"

namespace tenon::plugin::worker {

namespace {

constexpr uint64_t kStackBytes = 8 << 20;        ///< of each thread
constexpr size_t kSignalStackBytes = 64 * 1024;  ///< on which signal handlers run

ControlBlock* control = nullptr;            ///< where handlers record how the process ends
thread_local Lane* lane = nullptr;          ///< the one that this thread serves
std::atomic<uint64_t> limit = 0, base = 0;  ///< bytes that the plugin may allocate (0: any number); bytes of the process without the plugin

/// Private memory of the process with its stacks, in bytes, as RLIMIT_DATA counts it. Signal handlers may call it.
uint64_t data_bytes() {
  char text[256] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  int field = 0;
  uint64_t pages = 0;
  for (ssize_t k = 0; k < size && field < 6; ++k) {
    if (text[k] == ' ') {
      if (++field < 6) pages = 0;
    } else {
      pages = pages * 10 + static_cast<uint64_t>(text[k] - '0');
    }
  }
  return pages * kPage;
}

/// Bytes that the plugin has allocated.
uint64_t plugin_bytes() {
  const uint64_t now = data_bytes(), before = base;
  return now > before ? now - before : 0;
}

/// Sets the limit of the operating system to base + limit.
void set_limit() {
  if (limit == 0) return;
  rlimit to{};
  getrlimit(RLIMIT_DATA, &to);
  to.rlim_cur = std::min<rlim_t>(base + limit, to.rlim_max);
  setrlimit(RLIMIT_DATA, &to);
}

/// The handler of fatal signals: records them in `control`, then lets the signal end the process.
void on_fatal_signal(int number, siginfo_t* info, void*) {
  control->data_bytes.store(plugin_bytes());
  if (number == SIGSEGV || number == SIGBUS) control->address.store(reinterpret_cast<uintptr_t>(info->si_addr));
  if (lane) lane->blamed.store(1);
  std::signal(number, SIG_DFL);
  raise(number);  // delivered when this function returns: until then the signal is blocked
}

}  // namespace

void limit_memory(uint64_t bytes) {
  limit = bytes;
  base = data_bytes() + kStackBytes * static_cast<uint64_t>(usable_cpus());  // for the threads of parallel_for
  set_limit();
}

void raise_limit_for_stack() {
  base += kStackBytes;
  set_limit();
}

bool is_nearly_full() { return limit > 0 && plugin_bytes() > limit / 10 * 9; }

void install_end_handlers(ControlBlock& to) {
  control = &to;
  struct sigaction action{};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
  std::atexit([] {
    control->data_bytes.store(plugin_bytes());
    if (lane) lane->blamed.store(1);
  });
}

void set_thread_lane(Lane& of) {
  lane = &of;
  // Never freed: threads that serve a lane never end. A variable holds it, as LeakSanitizer does not see the kernel's pointer.
  thread_local std::byte* const signal_stack = new std::byte[kSignalStackBytes];
  const stack_t stack{.ss_sp = signal_stack, .ss_flags = 0, .ss_size = kSignalStackBytes};
  sigaltstack(&stack, nullptr);
}

void watch_host(int host) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, host, 0));  // negative where the kernel has no such call
  if (getppid() != host) _exit(0);
  std::thread([=] {
    pollfd host_end{.fd = descriptor, .events = POLLIN, .revents = 0};
    while (getppid() == host) {
      if (descriptor < 0) usleep(100'000);
      else poll(&host_end, 1, -1);
    }
    kill(0, SIGKILL);  // the process group: with the processes that plugins started
  }).detach();
}

}  // namespace tenon::plugin::worker
