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

RemoteObject::RemoteObject(const Op& op, std::shared_ptr<Link> link, Node node)
    : op_(op), link_(std::move(link)), node_(std::move(node)), place_(fmt::format("{}, {}", node_.name, op.place())) {}

Result<std::shared_ptr<RemoteObject>> RemoteObject::create(const Op& op, std::shared_ptr<Link> link, Node node) {
  std::shared_ptr<RemoteObject> out(new RemoteObject(op, std::move(link), std::move(node)));
  TRY(out->made());
  return out;
}

void RemoteObject::request(std::string& message) const {
  Packer to(message);
  to << Verb::create << index_of(op_, link_->library()) << std::string_view(op_.name_space) << std::string_view(node_.name)
     << node_.operands << node_.results << node_.fields.size();
  for (const Field& f : node_.fields) to << std::string_view(f.name) << f.type << f.length << std::string_view(f.bytes);
}

Result<RemoteObject::Made> RemoteObject::made() {
  const std::lock_guard held(lock_);
  if (made_.process && !made_.process->is_lost()) return made_;
  made_ = {};
  for (int k = 0; k < kTries; ++k) {
    auto process = TRY(link_->process());
    std::string message;
    request(message);
    if (TRY(process->ask(message, {.function = "`create`", .place = place_})) == RequestStatus::not_taken) continue;
    Unpacker answer(message);
    answer.number();
    made_ = {std::move(process), answer.number()};
    return made_;
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
  if (!made_.process || made_.process->is_lost()) return;
  std::string message;
  Packer(message) << Verb::destroy << made_.id;
  // The result is ignored: a process whose `destroy` did not return has been ended.
  (void)made_.process->ask(message, {.function = "`destroy`", .place = place_, .max_timeout = 5s});
}

}  // namespace tenon::plugin::worker
