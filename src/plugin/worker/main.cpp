// SPDX-License-Identifier: Apache-2.0
// The program tenon-plugin-worker: serves one library of plugins to the process that started it, through the file that it was given as
// descriptor 3. Its arguments are the id of that process, and "sealed" where descriptor 4 is the library.
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

/// Writes log lines of the library to the ring buffer, which the host reads whenever it waits. A full buffer blocks the caller.
class LogWriter {
 public:
  explicit LogWriter(LogStream& to) : stream_(to) {}
  void write(tenon_severity severity, std::string_view text) {
    const std::lock_guard held(lock_);
    const uint32_t head[] = {static_cast<uint32_t>(severity), static_cast<uint32_t>(text.size())};
    append({reinterpret_cast<const char*>(head), sizeof head});
    append(text);
  }

 private:
  void append(std::string_view bytes) {
    while (!bytes.empty()) {
      const uint64_t written = stream_.written.load(std::memory_order_relaxed),
                     used = written - stream_.read.load(std::memory_order_acquire);
      const uint64_t start = written % LogStream::kRoom;
      const size_t count = std::min<size_t>({bytes.size(), LogStream::kRoom - used, LogStream::kRoom - start});
      std::memcpy(stream_.room.data() + start, bytes.data(), count);
      stream_.written.store(written + count, std::memory_order_release);
      bytes.remove_prefix(count);
      if (count == 0) usleep(200);
    }
  }
  std::mutex lock_;  ///< keeps the parts of a line together
  LogStream& stream_;
};

/// Answers the requests of one lane, without end.
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

/// host: the id of the process that started this one. has_library: descriptor kLibrary is the library.
int run_worker(int host, bool has_library) {
  // Descriptors that were inherited by accident.
  syscall(SYS_close_range, (has_library ? kLibrary : kFile) + 1, ~0U, 0);
  const rlimit no_core_dump{0, 0};
  setrlimit(RLIMIT_CORE, &no_core_dump);
  watch_host(host);
  auto shared = Mapping::of(kFile, 0, kDataStart);
  if (!shared) {
    std::fprintf(stderr, "%s\n", shared.error().text().c_str());
    return EXIT_FAILURE;
  }
  ControlBlock& control = *reinterpret_cast<ControlBlock*>(shared->data());
  install_end_handlers(control);
  auto& log = *new LogWriter(control.log);  // log and service are used by threads without end, and so never deleted
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
  if (argc == 2 || has_library) return run_worker(std::atoi(argv[1]), has_library);
  std::fputs("tenon-plugin-worker is started by Tenon, which gives it a file as descriptor 3\n", stderr);
  return EXIT_FAILURE;
}
