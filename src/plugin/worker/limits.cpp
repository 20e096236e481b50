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

constexpr uint64_t kStack = 8 << 20;
constexpr size_t kSignalStack = 64 * 1024;

ControlBlock* control = nullptr;
thread_local Lane* lane = nullptr;
std::atomic<uint64_t> limit = 0, base = 0;  ///< bytes that the plugin may take; those that are none of its

/// Bytes of memory of its own, stacks too: what RLIMIT_DATA counts. For signal handlers as well.
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

uint64_t taken() {
  const uint64_t now = data_bytes(), before = base;
  return now > before ? now - before : 0;
}

void set_limit() {
  if (limit == 0) return;
  rlimit to{};
  getrlimit(RLIMIT_DATA, &to);
  to.rlim_cur = std::min<rlim_t>(base + limit, to.rlim_max);
  setrlimit(RLIMIT_DATA, &to);
}

void note_signal(int number, siginfo_t* info, void*) {
  control->data_bytes.store(taken());
  if (number == SIGSEGV || number == SIGBUS) control->address.store(reinterpret_cast<uintptr_t>(info->si_addr));
  if (lane) lane->blamed.store(1);
  std::signal(number, SIG_DFL);
  raise(number);  // comes when this function returns
}

}  // namespace

void limit_memory(uint64_t bytes) {
  limit = bytes;
  base = data_bytes() + kStack * static_cast<uint64_t>(usable_cpus());  // for the threads of parallel_for
  set_limit();
}

void raise_limit_for_stack() {
  base += kStack;
  set_limit();
}

bool is_nearly_full() { return limit > 0 && taken() > limit / 10 * 9; }

void install_end_handlers(ControlBlock& to) {
  control = &to;
  struct sigaction action{};
  action.sa_sigaction = note_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
  std::atexit([] {
    control->data_bytes.store(taken());
    if (lane) lane->blamed.store(1);
  });
}

void set_thread_lane(Lane& of) {
  lane = &of;
  const stack_t stack{.ss_sp = new std::byte[kSignalStack], .ss_flags = 0, .ss_size = kSignalStack};  // as long as the thread: for ever
  sigaltstack(&stack, nullptr);
}

void watch_host(int host) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, host, 0));
  if (getppid() != host) _exit(0);
  std::thread([=] {
    pollfd gone{.fd = descriptor, .events = POLLIN, .revents = 0};
    while (getppid() == host) {
      if (descriptor < 0) usleep(100'000);  // an older kernel
      else poll(&gone, 1, -1);
    }
    kill(0, SIGKILL);  // and what plugins started
  }).detach();
}

}  // namespace tenon::plugin::worker
