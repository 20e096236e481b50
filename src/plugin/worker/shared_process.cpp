// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/shared_process.h"

#include <map>

namespace tenon::plugin::worker {

Result<std::shared_ptr<SharedProcess>> SharedProcess::of(std::shared_ptr<const Library> library, const Isolation& isolation) {
  static std::mutex lock;
  static auto& processes = *new std::map<std::pair<std::string, Isolation>, std::weak_ptr<SharedProcess>>;
  if (!library->is_file && library->sealed < 0)
    return fail(Code::not_supported, library->file.string(), "a function of this process cannot be isolated: no other process has it")
        .expected("a library of plugins, in a file or inside an engine")
        .found(library->name)
        .advice("run without isolation, or write the plugin as a library");
  const std::lock_guard held(lock);
  auto& known = processes[{library->sha256, isolation}];
  if (auto out = known.lock()) return out;
  std::error_code ignored;
  std::string file = (library->is_file ? std::filesystem::absolute(library->file, ignored) : library->file).string();
  auto out = std::make_shared<SharedProcess>(std::move(library), std::move(file), isolation);
  known = out;
  return out;
}

Result<std::shared_ptr<Process>> SharedProcess::current() {
  const std::lock_guard held(lock_);
  if (process_ && !process_->is_lost()) return process_;
  const tenon_host* const log = library_->ops.empty() ? nullptr : library_->ops[0].host->table();
  process_ = nullptr;
  process_ = TRY(Process::start(*library_, file_, log, isolation_));
  return process_;
}

}  // namespace tenon::plugin::worker
