// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/remote_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/threads/thread_pool.h"
#include "plugin/run/runner.h"
#include "plugin/worker/packing.h"

namespace tenon::plugin::worker {

namespace {

constexpr uint64_t kAlignment = 64;
constexpr int64_t kMinBytesForThreads = 512 * 1024;  ///< from which a copy is split over threads
constexpr uint64_t kMinBytesToMap = 16 * 1024;       ///< of an operand, from which the worker maps it in place of a copy

uint64_t rounded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

void copy(void* to, const void* from, int64_t bytes, const RunResources& resources) {
  const auto piece = [&](int64_t begin, int64_t end, int) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, static_cast<size_t>(end - begin));
  };
  if (bytes >= kMinBytesForThreads && resources.thread_pool && resources.threads > 1)
    resources.thread_pool->run(bytes, kMinBytesForThreads / 8, piece, resources.threads);
  else if (bytes > 0) piece(0, bytes, 0);
}

}  // namespace

RemoteRunner::RemoteRunner(std::shared_ptr<RemoteObject> object, std::vector<DType> results, Layouts layouts, int32_t tactic,
                           InnerGraphs* graphs)
    : object_(std::move(object)),
      dtypes_(std::move(results)),
      layouts_(std::move(layouts)),
      tactic_(tactic),
      graphs_(graphs ? std::make_unique<GraphService>(*graphs) : nullptr),
      operands_(object_->node().operands),
      results_(dtypes_.size()) {}

Result<std::unique_ptr<NodeRunner>> RemoteRunner::make(std::shared_ptr<RemoteObject> object, std::vector<DType> results, Layouts layouts,
                                                       int32_t tactic, InnerGraphs* graphs) {
  std::unique_ptr<RemoteRunner> out(new RemoteRunner(std::move(object), std::move(results), std::move(layouts), tactic, graphs));
  TRY(out->attach());
  return out;
}

RemoteRunner::~RemoteRunner() {
  if (!attached_.process || attached_.process->is_lost()) return;
  Packer(message_) << Verb::detach << runner_id_;
  (void)attached_.process->send_request(message_,
                                        {.function = "`destroy`", .place = object_->place(), .max_timeout = std::chrono::seconds(5)});
}

Result<RequestStatus> RemoteRunner::send_request(std::string_view function, const RunResources* resources) {
  return attached_.process->send_request(
      message_, {.function = function, .place = object_->place(), .resources = resources, .graphs = resources ? graphs_.get() : nullptr});
}

Result<RequestStatus> RemoteRunner::attach() {
  shapes_sent_ = false;
  may_read_ = true;
  attached_ = {};
  auto instance = TRY(object_->instance());
  Packer to(message_);
  to << Verb::attach << instance.id << operands_.size() << tactic_ << dtypes_.size();
  for (const DType d : dtypes_) to << d;
  to << layouts_.size();
  for (const int32_t l : layouts_) to << l;
  if (graphs_) {
    graphs_->enter(instance.process->file());
    graphs_->pack_ports(to);
  } else {
    to << 0;
  }
  attached_ = std::move(instance);
  if (TRY(send_request("`attach`", nullptr)) == RequestStatus::not_taken) {
    attached_ = {};
    return RequestStatus::not_taken;
  }
  Unpacker answer(message_);
  answer.number();
  runner_id_ = answer.number();
  return RequestStatus::answered;
}

Result<void> RemoteRunner::set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places, const std::vector<bool>& wanted) {
  using enum ResultSlot::Kind;
  for (size_t k = 0; k < operands.size(); ++k) (operands_[k] = Operand()).tensor = operands[k];
  for (size_t k = 0; k < places.size(); ++k) {
    results_[k] = {.kind = !wanted[k] ? unwanted : places[k].empty_handle() ? late : placed, .place = places[k], .late = {}};
    if (results_[k].kind == placed) results_[k].destination = const_cast<std::byte*>(places[k].data());
  }
  shapes_sent_ = false;
  for (int k = 0; k < RemoteObject::kTries; ++k)
    if (TRY(ready()) == RequestStatus::answered) return {};
  return {};  // run() tries again, and returns the error
}

Result<RequestStatus> RemoteRunner::ready() {
  if ((!attached_.process || attached_.process->is_lost()) && TRY(attach()) == RequestStatus::not_taken) return RequestStatus::not_taken;
  return shapes_sent_ ? RequestStatus::answered : send_shapes();
}

/// Each result ends at a page boundary, before a guard page, so that a write past its end is detected.
Result<void> RemoteRunner::place_tensors() {
  uint64_t at = 0;
  for (Operand& o : operands_) {
    o.offset = at;
    if (!o.read_from) at += rounded(o.bytes(), kAlignment);
  }
  read_ = {};
  read_ = TRY(SharedFile::part(attached_.process->file(), at));
  guards_ = {0};
  at = kPage;
  for (ResultSlot& p : results_) {
    if (p.kind != ResultSlot::Kind::placed) continue;
    const uint64_t bytes = rounded(static_cast<uint64_t>(p.place.byte_size()), kAlignment), room = rounded(bytes, kPage);
    p.offset = at + room - bytes;
    at += room + kPage;
    guards_.push_back(at - kPage);
  }
  shared_results_.reset();
  written_ = {};
  written_ = TRY(SharedFile::part(attached_.process->file(), at));
  shared_results_.emplace(written_.data(), written_.bytes(), attached_.process->file()->descriptor(), written_.offset());
  return {};
}

void RemoteRunner::pack_shapes() {
  Packer to(message_);
  to << Verb::set_shapes << runner_id_ << read_.offset() << read_.bytes() << written_.offset() << written_.bytes() << guards_.size();
  for (const uint64_t g : guards_) to << g;
  to << operands_.size();
  for (const Operand& o : operands_) {
    to << o.tensor.dtype() << std::span<const int64_t>(o.tensor.shape()) << (o.read_from ? o.read_from->file : -1);
    to << (o.read_from ? o.read_from->offset : o.offset) << o.bytes();
  }
  for (const ResultSlot& p : results_) to << p.kind << std::span<const int64_t>(p.place.shape()) << p.offset;
}

Result<RequestStatus> RemoteRunner::send_shapes() {
  for (const bool is_second : {false, true}) {
    if (is_second)
      for (Operand& o : operands_) o.read_from.reset();
    TRY(place_tensors());
    for (const Operand& o : operands_)
      if (!o.data && !o.is_missing()) copy(read_.data() + o.offset, o.tensor.data(), o.tensor.byte_size(), {});
    pack_shapes();
    if (TRY(send_request("`shapes_changed` or `workspace`", nullptr)) == RequestStatus::not_taken) return RequestStatus::not_taken;
    Unpacker answer(message_);
    answer.number();
    if (answer.number() == 0) {
      may_read_ = false;
      continue;
    }
    read_address_ = answer.as<uint64_t>();
    written_address_ = answer.as<uint64_t>();
    for (Operand& o : operands_) o.worker_address = answer.as<uint64_t>();
    shapes_sent_ = true;
    return RequestStatus::answered;
  }
  return fail(Code::device_failed, object_->place(), "the process of its library finds operands neither here nor in what it shares");
}

/// Whether each operand is where the last set_shapes message placed it; else updates what to send.
bool RemoteRunner::are_operands_unmoved() {
  bool out = true;
  for (Operand& o : operands_) {
    if (!o.data || o.is_copied || !may_read_ || o.bytes() < kMinBytesToMap) continue;
    const auto now = SharedMemory::find(o.data, o.bytes());
    if (now == o.read_from) continue;
    o.is_copied = o.read_from.has_value();  // its address changes from run to run: copies cost less than new mappings
    o.read_from = o.is_copied ? std::nullopt : now;
    out = false;
  }
  return out;
}

/// Passes graphs_ the memory that inner graphs may read and write. Names of places are those that WorkerService::set_shapes uses.
void RemoteRunner::add_memory_of_graphs() {
  CommonMemory& to = graphs_->begin();
  for (size_t k = 0; k < operands_.size(); ++k) {
    const Operand& o = operands_[k];
    const auto* const data = o.read_from ? static_cast<const std::byte*>(o.data) : read_.data() + o.offset;
    if (!o.is_missing()) to.add({.name = {.where = static_cast<int64_t>(k)}, .data = data, .bytes = o.bytes()});
  }
  to.add({.name = {.offset = written_.offset()}, .data = written_.data(), .bytes = written_.bytes(), .is_written = true});
}

Result<void> RemoteRunner::run(const RunResources& resources) {
  for (int k = 0; k < RemoteObject::kTries; ++k) {
    auto status = try_run(resources);
    if (!status) return with_types(std::move(status).error());
    if (*status == RequestStatus::answered) return {};
  }
  return object_->no_process_error();
}

Result<RequestStatus> RemoteRunner::try_run(const RunResources& resources) {
  if (!are_operands_unmoved()) shapes_sent_ = false;
  if (TRY(ready()) == RequestStatus::not_taken) return RequestStatus::not_taken;
  copied_ = 0;
  for (const Operand& o : operands_) {
    if (!o.data || o.is_missing() || o.read_from) continue;
    copy(read_.data() + o.offset, o.data, o.tensor.byte_size(), resources);
    copied_ += o.tensor.byte_size();
  }
  if (graphs_) add_memory_of_graphs();
  Packer(message_) << Verb::run << runner_id_ << (resources.thread_pool ? resources.threads : 1);
  if (TRY(send_request("`enqueue`", &resources)) == RequestStatus::not_taken) return RequestStatus::not_taken;
  if (graphs_) copied_ += graphs_->copied_bytes();
  for (const ResultSlot& p : results_) {
    if (p.kind != ResultSlot::Kind::placed || !p.destination) continue;
    copy(p.destination, written_.data() + p.offset, p.place.byte_size(), resources);
    copied_ += p.place.byte_size();
  }
  return fetch_late_results(resources);
}

/// Copies results of data-dependent sizes from the worker, after a run whose answer is in message_.
Result<RequestStatus> RemoteRunner::fetch_late_results(const RunResources& resources) {
  const std::string failure = message_;
  Unpacker answer(failure);
  answer.number();
  for (size_t k = 0; k < results_.size(); ++k) {
    if (results_[k].kind != ResultSlot::Kind::late) continue;
    Sizes sizes = answer.numbers();
    if (sizes.size() > TENON_MAX_RANK || std::ranges::any_of(sizes, [](int64_t size) { return size < 0; }))
      return fail(Code::device_failed, object_->place(), fmt::format("it sent impossible sizes of result {}", k))
          .expected(fmt::format("at most {} sizes from 0", TENON_MAX_RANK))
          .found(fmt::format("[{}]", fmt::join(sizes, ",")));
    Tensor out = TRY(Tensor::make(dtypes_[k], std::move(sizes)));
    const auto part = TRY(SharedFile::part(attached_.process->file(), static_cast<uint64_t>(out.byte_size())));
    Packer(message_) << Verb::late << runner_id_ << k << part.offset() << part.bytes() << out.byte_size();
    if (TRY(send_request("`enqueue`", &resources)) == RequestStatus::not_taken) return RequestStatus::not_taken;
    copy(out.mutable_data(), part.data(), out.byte_size(), resources);
    copied_ += out.byte_size();
    results_[k].late = std::move(out);
  }
  return RequestStatus::answered;
}

/// Text on the illegal access that ended the worker; empty: unknown.
std::string RemoteRunner::illegal_access_text() const {
  const uint64_t address = attached_.process ? attached_.process->fault() : 0;
  const auto is_within = [&](uint64_t begin, uint64_t bytes) { return begin > 0 && address >= begin && address < begin + bytes; };
  if (is_within(read_address_, read_.bytes()) ||
      std::ranges::any_of(operands_, [&](const Operand& o) { return o.read_from && is_within(o.worker_address, o.bytes()); }))
    return "it wrote into an operand";
  if (address < written_address_ || address >= written_address_ + written_.bytes()) return "";
  for (size_t k = 0; k < results_.size(); ++k) {
    const ResultSlot& p = results_[k];
    if (p.kind != ResultSlot::Kind::placed) continue;
    const uint64_t end = written_address_ + p.offset + rounded(static_cast<uint64_t>(p.place.byte_size()), kAlignment);
    if (address >= end && address < end + kPage) return fmt::format("it wrote past the end of result {}", k);
  }
  return "it wrote before a result";
}

Error RemoteRunner::with_types(Error error) const {
  if (!attached_.process || !attached_.process->is_lost()) return error;
  std::string types;
  for (const Operand& o : operands_) types += (types.empty() ? "" : ", ") + (o.is_missing() ? "_" : type_text(o.tensor));
  const std::string why = illegal_access_text();
  return std::move(error).found(fmt::format("{}{}, for ({}), tactic {}", error->found, why.empty() ? "" : ": " + why, types, tactic_));
}

}  // namespace tenon::plugin::worker
