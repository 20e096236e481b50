// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/remote_object.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/worker/packing.h"

namespace tenon::plugin::worker {

namespace {

using namespace std::chrono_literals;

/// Which op of its library it is: a registry may have it under another namespace.
size_t index_of(const Op& op, const Library& library) {
  const auto same = [&](const Op& o) {
    return o.name == op.name && o.version == op.version && std::string_view(o.table.name_space) == op.table.name_space;
  };
  return static_cast<size_t>(std::ranges::find_if(library.ops, same) - library.ops.begin());
}

}  // namespace

RemoteObject::RemoteObject(const Op& op, std::shared_ptr<SharedProcess> shared_process, Node node)
    : op_(op), shared_process_(std::move(shared_process)), node_(std::move(node)), place_(fmt::format("{}, {}", node_.name, op.place())) {}

Result<std::shared_ptr<RemoteObject>> RemoteObject::create(const Op& op, std::shared_ptr<SharedProcess> shared_process, Node node) {
  std::shared_ptr<RemoteObject> out(new RemoteObject(op, std::move(shared_process), std::move(node)));
  TRY(out->instance());
  return out;
}

void RemoteObject::write_create_request(std::string& message) const {
  Packer to(message);
  to << Verb::create << index_of(op_, shared_process_->library()) << std::string_view(op_.name_space) << std::string_view(node_.name)
     << node_.operands << node_.results << node_.fields.size();
  for (const Field& f : node_.fields) to << std::string_view(f.name) << f.type << f.length << std::string_view(f.bytes);
}

Result<RemoteObject::Instance> RemoteObject::instance() {
  const std::lock_guard held(lock_);
  if (instance_.process && !instance_.process->is_lost()) return instance_;
  instance_ = {};
  for (int k = 0; k < kTries; ++k) {
    auto process = TRY(shared_process_->current());
    std::string message;
    write_create_request(message);
    if (TRY(process->send_request(message, {.function = "`create`", .place = place_})) == RequestStatus::not_taken) continue;
    Unpacker answer(message);
    answer.number();
    instance_ = {std::move(process), answer.number()};
    return instance_;
  }
  return no_process_error();
}

Error RemoteObject::no_process_error() const {
  return fail(Code::device_failed, place_, "the process of its library ends before it takes a request")
      .expected("a process that waits")
      .found(fmt::format("{} that ended", kTries))
      .advice("look for threads of the library that crash");
}

RemoteObject::~RemoteObject() {
  if (!instance_.process || instance_.process->is_lost()) return;
  std::string message;
  Packer(message) << Verb::destroy << instance_.id;
  // The result is ignored: a process whose `destroy` did not return has been ended.
  (void)instance_.process->send_request(message, {.function = "`destroy`", .place = place_, .max_timeout = 5s});
}

}  // namespace tenon::plugin::worker
