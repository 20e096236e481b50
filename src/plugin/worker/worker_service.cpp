// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/worker_service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/threads/thread_pool.h"
#include "plugin/worker/limits.h"

namespace tenon::plugin::worker {

namespace {

/// Sets `to` to the memory of a node's operands and of its results (`places`), which are in the mapping `in`. results: the name of its
/// start.
void set_common_memory(std::span<const Tensor> operands, std::span<const Tensor> places, CommonMemory::Name results, const Mapping& in,
                       CommonMemory& to) {
  to.clear();
  for (size_t k = 0; k < operands.size(); ++k)
    if (!operands[k].empty_handle())
      to.add({.name = {.where = static_cast<int64_t>(k)},
              .data = operands[k].data(),
              .bytes = static_cast<uint64_t>(operands[k].byte_size())});
  for (const Tensor& t : places) {
    if (t.empty_handle()) continue;
    const CommonMemory::Name name{results.where, results.offset + static_cast<uint64_t>(t.data() - in.data())};
    to.add({.name = name, .data = t.data(), .bytes = static_cast<uint64_t>(t.byte_size()), .is_written = true});
  }
}

}  // namespace

Result<void> WorkerService::answer(Verb verb, Unpacker& from, Packer& to, Lane& lane) {
  switch (verb) {
    case Verb::open: return open(from);
    case Verb::create: return create(from, to);
    case Verb::attach: return attach(from, to);
    case Verb::set_shapes: return set_shapes(from, to);
    case Verb::run: return run(from, to, lane);
    case Verb::late: return late(from);
    case Verb::destroy: {
      const auto id = from.number();
      std::unique_lock held(lock_);
      const auto removed = objects_.extract(id);
      held.unlock();  // its destructor calls the plugin
      return {};
    }
    case Verb::detach: {
      const auto id = from.number();
      std::unique_lock held(lock_);
      const auto removed = runners_.extract(id);
      held.unlock();  // its destructor calls the plugin
      return {};
    }
  }
  return fail(Code::internal, "isolated plugins", "the host sends an unknown request");
}

Result<void> WorkerService::open(Unpacker& from) {
  if (const auto version = from.number(); version != kVersion)
    return fail(Code::wrong_target, "isolated plugins", "the program that runs them is of another Tenon than the library that starts it")
        .expected(fmt::format("version {} of the protocol", kVersion))
        .found(std::to_string(version))
        .advice("install Tenon again: the program tenon-plugin-worker lies beside the library, or in the folder bin above it");
  const bool is_sealed = from.number() != 0;
  const std::string file(from.text()), sha256(from.text());
  library_ = TRY(is_sealed ? open_library(SealedMemory(file, kLibrary), logger_) : open_library(file, logger_));
  if (library_->sha256 != sha256)
    return fail(Code::bad_file, file, "the plugin library is another one than it was when it was opened")
        .expected("SHA-256 " + sha256)
        .found(library_->sha256)
        .advice("start again");
  limit_memory(from.as<uint64_t>());
  return {};
}

Result<void> WorkerService::create(Unpacker& from, Packer& to) {
  Op op = library_->ops.at(from.as<size_t>());
  op.name_space = from.text();
  std::string node(from.text());
  const auto operands = from.as<size_t>(), results = from.as<size_t>();
  std::vector<Field> fields(from.as<size_t>());
  for (Field& f : fields) {
    f.name = from.text();
    f.type = from.as<tenon_field_type>();
    f.length = from.number();
    f.bytes = from.text();
  }
  std::unique_lock held(lock_);
  const Op& kept = ops_.emplace_back(std::move(op));
  held.unlock();
  auto made = TRY(Object::create(kept, TENON_RUN, std::move(node), fields, operands, results));
  held.lock();
  objects_.emplace(++last_id_, std::move(made));
  to << last_id_;
  return {};
}

Result<void> WorkerService::attach(Unpacker& from, Packer& to) {
  std::unique_lock held(lock_);
  const auto object = objects_.at(from.number());
  held.unlock();
  const auto operands = from.as<size_t>();
  const auto tactic = from.as<int32_t>();
  std::vector<DType> results(from.as<size_t>());
  for (DType& d : results) d = from.as<DType>();
  Layouts layouts(from.as<size_t>());
  for (int32_t& l : layouts) l = from.as<int32_t>();
  auto graphs = std::make_unique<HostGraphs>(from);
  if (graphs->count() == 0) graphs = nullptr;
  HostedRunner made{.graphs = std::move(graphs),
                    .runner = TRY(Runner::make(object, operands, results, layouts)),
                    .results = results,
                    .is_late = {},
                    .read = {},
                    .written = {},
                    .operands = {},
                    .data = {}};
  made.runner->set_graphs(made.graphs.get());
  made.runner->set_tactic(tactic);
  held.lock();
  runners_.emplace(++last_id_, std::move(made));
  to << last_id_;
  return {};
}

WorkerService::HostedRunner& WorkerService::runner_of(int64_t id) {
  const std::lock_guard held(lock_);
  return runners_.at(id);  // an element of a std::map, which does not move
}

const std::byte* WorkerService::host_memory(int file, uint64_t offset, uint64_t bytes, HostedRunner& to) const {
  const int opened = ::open(fmt::format("/proc/{}/fd/{}", host_, file).c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return nullptr;
  const uint64_t start = offset / kPage * kPage, end = (offset + bytes + kPage - 1) / kPage * kPage;
  auto mapping = Mapping::of(opened, start, end - start, false);
  close(opened);
  if (!mapping) return nullptr;
  return to.operands.emplace_back(*std::move(mapping)).data() + (offset - start);
}

Result<void> WorkerService::set_shapes(Unpacker& from, Packer& to) {
  HostedRunner& h = runner_of(from.number());
  h.read = {};
  h.written = {};
  h.operands.clear();
  const auto read = from.as<uint64_t>(), read_bytes = from.as<uint64_t>(), written = from.as<uint64_t>(),
             written_bytes = from.as<uint64_t>();
  h.read = TRY(Mapping::of(kFile, read, read_bytes, false));
  h.written = TRY(Mapping::of(kFile, written, written_bytes));
  for (auto guards = from.number(); guards > 0; --guards) h.written.guard_page(from.as<uint64_t>());
  std::vector<Tensor> operands(static_cast<size_t>(from.number())), places(h.results.size());
  bool may_read = true;
  for (Tensor& t : operands) {
    const auto dtype = from.as<DType>();
    Sizes sizes = from.numbers();
    const auto file = from.as<int>();
    const auto at = from.as<uint64_t>(), bytes = from.as<uint64_t>();
    if (dtype == DType::none) continue;
    const std::byte* const data = file < 0 ? h.read.data() + at : host_memory(file, at, bytes, h);
    may_read &= data != nullptr;
    if (data) t = Tensor::view(dtype, std::move(sizes), data, nullptr);
  }
  to << may_read;
  if (!may_read) return {};
  std::vector<bool> wanted(places.size());
  h.is_late.assign(places.size(), false);
  for (size_t k = 0; k < places.size(); ++k) {
    const auto kind = from.number();
    Sizes sizes = from.numbers();
    const auto at = from.as<uint64_t>();
    wanted[k] = kind != 0;  // kind 0: not wanted; 1: written to `at`; 2: its size depends on data, so the host fetches it after the run
    h.is_late[k] = kind == 2;
    if (kind == 1) places[k] = Tensor::view(h.results[k], std::move(sizes), h.written.data() + at, nullptr);
  }
  if (h.graphs) set_common_memory(operands, places, {.where = CommonMemory::kSharedFile, .offset = written}, h.written, h.graphs->memory());
  TRY(h.runner->set_shapes(operands, places, wanted));
  to << reinterpret_cast<uintptr_t>(h.read.data()) << reinterpret_cast<uintptr_t>(h.written.data());
  h.data.clear();
  for (const Tensor& t : operands) {
    to << reinterpret_cast<uintptr_t>(t.data());
    h.data.push_back(const_cast<std::byte*>(t.data()));
  }
  return {};
}

Result<void> WorkerService::run(Unpacker& from, Packer& to, Lane& lane) {
  HostedRunner& h = runner_of(from.number());
  const int threads = std::min(from.as<int>(), default_thread_pool().size());
  for (size_t k = 0; k < h.data.size(); ++k)
    if (h.data[k]) h.runner->point_operand(k, h.data[k]);  // tells the plugin that the values may have changed
  if (h.graphs) h.graphs->serve(&lane);
  auto done =
      h.runner->run({.thread_pool = threads > 1 ? &default_thread_pool() : nullptr,
                     .threads = threads,
                     .stopped = [](const void* of) { return static_cast<const Lane*>(of)->stop.load(std::memory_order_relaxed) != 0; },
                     .stopped_of = &lane});
  if (h.graphs) h.graphs->serve(nullptr);
  if (!done) return done;
  for (size_t k = 0; k < h.is_late.size(); ++k)
    if (h.is_late[k]) to << std::span<const int64_t>(h.runner->late(k).shape());
  return {};
}

Result<void> WorkerService::late(Unpacker& from) {
  HostedRunner& h = runner_of(from.number());
  const auto index = from.as<size_t>();
  const auto offset = from.as<uint64_t>(), room = from.as<uint64_t>(), bytes = from.as<uint64_t>();
  const auto to = TRY(Mapping::of(kFile, offset, room));
  if (bytes > 0) std::memcpy(to.data(), h.runner->late(index).data(), bytes);
  return {};
}

}  // namespace tenon::plugin::worker
