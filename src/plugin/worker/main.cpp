// SPDX-License-Identifier: Apache-2.0
// The program tenon-plugin-worker: serves one library of plugins to the process that started it, through the file that it was given as
// descriptor 3. "sealed" after the process's number: descriptor 4 is the library.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "plugin/worker/limits.h"
#include "plugin/worker/worker_service.h"

namespace tenon::plugin::worker {
namespace {

/// Lines of the library, which the host reads whenever it waits. Where there is no room the caller waits for that.
class Log {
 public:
  explicit Log(LogStream& to) : to_(to) {}
  void write(tenon_severity severity, std::string_view text) {
    const std::lock_guard held(lock_);
    const uint32_t head[] = {static_cast<uint32_t>(severity), static_cast<uint32_t>(text.size())};
    add({reinterpret_cast<const char*>(head), sizeof head});
    add(text);
  }

 private:
  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      const uint64_t at = to_.written.load(std::memory_order_relaxed), used = at - to_.read.load(std::memory_order_acquire);
      const uint64_t start = at % LogStream::kRoom;
      const size_t count = std::min<size_t>({bytes.size(), LogStream::kRoom - used, LogStream::kRoom - start});
      std::memcpy(to_.room.data() + start, bytes.data(), count);
      to_.written.store(at + count, std::memory_order_release);
      bytes.remove_prefix(count);
      if (count == 0) usleep(200);
    }
  }
  std::mutex lock_;
  LogStream& to_;
};

/// Answers one lane for ever.
[[noreturn]] void serve(WorkerService& service, Lane& lane) {
  set_thread_lane(lane);
  std::string message, answer;
  while (true) {
    receive(lane, message);
    Unpacker from(message);
    const auto verb = from.as<Verb>();
    Packer to(answer);
    to << Reply::done;
    if (auto done = service.answer(verb, from, to, lane); !done) {
      Packer again(answer);
      again << Reply::failed << is_nearly_full();
      pack(again, done.error());
    }
    send(lane, answer);
  }
}

int main_of(int host, bool has_library) {
  syscall(SYS_close_range, (has_library ? kLibrary : kFile) + 1, ~0U, 0);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  watch_host(host);
  auto shared = Mapping::of(kFile, 0, kDataStart);
  if (!shared) {
    std::fprintf(stderr, "%s\n", shared.error().text().c_str());
    return EXIT_FAILURE;
  }
  ControlBlock& control = *reinterpret_cast<ControlBlock*>(shared->data());
  install_end_handlers(control);
  auto& log = *new Log(control.log);
  auto& service =
      *new WorkerService(host, [&log](tenon_severity severity, std::string_view, std::string_view text) { log.write(severity, text); });
  for (uint32_t started = 0; true;) {
    const uint32_t wanted = std::min(control.lanes.load(), ControlBlock::kLanes);
    for (; started < wanted; ++started) {
      raise_limit_for_stack();
      std::thread([&service, &lane = control.lane[started]] { serve(service, lane); }).detach();
    }
    sleep_on(control.lanes, wanted);
  }
}

}  // namespace
}  // namespace tenon::plugin::worker

int main(int argc, char** argv) {
  using namespace tenon::plugin::worker;
  const bool has_library = argc == 3 && std::strcmp(argv[2], kSealed) == 0;
  if (argc == 2 || has_library) return main_of(std::atoi(argv[1]), has_library);
  std::fputs("tenon-plugin-worker is started by Tenon, which gives it a file as descriptor 3\n", stderr);
  return EXIT_FAILURE;
}
