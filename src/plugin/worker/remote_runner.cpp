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
constexpr int64_t kWorthThreads = 512 * 1024;
constexpr uint64_t kWorthReading = 16 * 1024;  ///< bytes of an operand, from which it is read where it is

uint64_t rounded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

void copy(void* to, const void* from, int64_t bytes, const RunResources& resources) {
  const auto piece = [&](int64_t begin, int64_t end, int) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, static_cast<size_t>(end - begin));
  };
  if (bytes >= kWorthThreads && resources.thread_pool && resources.threads > 1)
    resources.thread_pool->run(bytes, kWorthThreads / 8, piece, resources.threads);
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
  if (!in_.process || in_.process->is_lost()) return;
  Packer(message_) << Verb::detach << id_;
  (void)in_.process->ask(message_, {.function = "`destroy`", .place = object_->place(), .max_timeout = std::chrono::seconds(5)});
}

Result<RequestStatus> RemoteRunner::ask(std::string_view function, const RunResources* resources) {
  return in_.process->ask(
      message_, {.function = function, .place = object_->place(), .resources = resources, .graphs = resources ? graphs_.get() : nullptr});
}

Result<RequestStatus> RemoteRunner::attach() {
  shapes_sent_ = false;
  may_read_ = true;
  in_ = {};
  auto made = TRY(object_->made());
  Packer to(message_);
  to << Verb::attach << made.id << operands_.size() << tactic_ << dtypes_.size();
  for (const DType d : dtypes_) to << d;
  to << layouts_.size();
  for (const int32_t l : layouts_) to << l;
  if (graphs_) {
    graphs_->enter(made.process->file());
    graphs_->pack_ports(to);
  } else {
    to << 0;
  }
  in_ = std::move(made);
  if (TRY(ask("`attach`", nullptr)) == RequestStatus::not_taken) {
    in_ = {};
    return RequestStatus::not_taken;
  }
  Unpacker answer(message_);
  answer.number();
  id_ = answer.number();
  return RequestStatus::answered;
}

Result<void> RemoteRunner::set_shapes(std::span<const Tensor> operands, std::span<const Tensor> places, const std::vector<bool>& wanted) {
  using enum Placed::Kind;
  for (size_t k = 0; k < operands.size(); ++k) (operands_[k] = Operand()).tensor = operands[k];
  for (size_t k = 0; k < places.size(); ++k) {
    results_[k] = {.kind = !wanted[k] ? unwanted : places[k].empty_handle() ? late : placed, .place = places[k], .late = {}};
    if (results_[k].kind == placed) results_[k].to = const_cast<std::byte*>(places[k].data());
  }
  shapes_sent_ = false;
  for (int k = 0; k < RemoteObject::kTries; ++k)
    if (TRY(ready()) == RequestStatus::answered) return {};
  return {};  // the run tries again, and says what is wrong
}

Result<RequestStatus> RemoteRunner::ready() {
  if ((!in_.process || in_.process->is_lost()) && TRY(attach()) == RequestStatus::not_taken) return RequestStatus::not_taken;
  return shapes_sent_ ? RequestStatus::answered : send_shapes();
}

/// Results end where a page does, so that what is written after one is noticed.
Result<void> RemoteRunner::lay_out() {
  uint64_t at = 0;
  for (Operand& o : operands_) {
    o.at = at;
    if (!o.read_from) at += rounded(o.bytes(), kAlignment);
  }
  read_ = {};
  read_ = TRY(SharedFile::part(in_.process->file(), at));
  guards_ = {0};
  at = kPage;
  for (Placed& p : results_) {
    if (p.kind != Placed::Kind::placed) continue;
    const uint64_t bytes = rounded(static_cast<uint64_t>(p.place.byte_size()), kAlignment), room = rounded(bytes, kPage);
    p.at = at + room - bytes;
    at += room + kPage;
    guards_.push_back(at - kPage);
  }
  shared_results_.reset();
  written_ = {};
  written_ = TRY(SharedFile::part(in_.process->file(), at));
  shared_results_.emplace(written_.data(), written_.bytes(), in_.process->file()->descriptor(), written_.offset());
  return {};
}

void RemoteRunner::pack_shapes() {
  Packer to(message_);
  to << Verb::set_shapes << id_ << read_.offset() << read_.bytes() << written_.offset() << written_.bytes() << guards_.size();
  for (const uint64_t g : guards_) to << g;
  to << operands_.size();
  for (const Operand& o : operands_) {
    to << o.tensor.dtype() << std::span<const int64_t>(o.tensor.shape()) << (o.read_from ? o.read_from->file : -1);
    to << (o.read_from ? o.read_from->offset : o.at) << o.bytes();
  }
  for (const Placed& p : results_) to << p.kind << std::span<const int64_t>(p.place.shape()) << p.at;
}

Result<RequestStatus> RemoteRunner::send_shapes() {
  for (const bool is_second : {false, true}) {
    if (is_second)
      for (Operand& o : operands_) o.read_from.reset();
    TRY(lay_out());
    for (const Operand& o : operands_)
      if (!o.pointed && !o.is_missing()) copy(read_.data() + o.at, o.tensor.data(), o.tensor.byte_size(), {});
    pack_shapes();
    if (TRY(ask("`shapes_changed` or `workspace`", nullptr)) == RequestStatus::not_taken) return RequestStatus::not_taken;
    Unpacker answer(message_);
    answer.number();
    if (answer.number() == 0) {
      may_read_ = false;
      continue;
    }
    read_address_ = answer.as<uint64_t>();
    written_address_ = answer.as<uint64_t>();
    for (Operand& o : operands_) o.address = answer.as<uint64_t>();
    shapes_sent_ = true;
    return RequestStatus::answered;
  }
  return fail(Code::device_failed, object_->place(), "the process of its library finds operands neither here nor in what it shares");
}

/// Whether each operand is where the last set_shapes message placed it; else updates what to send.
bool RemoteRunner::are_operands_where_sent() {
  bool out = true;
  for (Operand& o : operands_) {
    if (!o.pointed || o.is_copied || !may_read_ || o.bytes() < kWorthReading) continue;
    const auto now = SharedMemory::find(o.pointed, o.bytes());
    if (now == o.read_from) continue;
    o.is_copied = o.read_from.has_value();  // it moves from run to run: a mapping for each would cost more
    o.read_from = o.is_copied ? std::nullopt : now;
    out = false;
  }
  return out;
}

/// What its graphs may read and write, as Served::set_shapes names it.
void RemoteRunner::share_with_graphs() {
  CommonMemory& to = graphs_->begin();
  for (size_t k = 0; k < operands_.size(); ++k) {
    const Operand& o = operands_[k];
    const auto* const data = o.read_from ? static_cast<const std::byte*>(o.pointed) : read_.data() + o.at;
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
  if (!are_operands_where_sent()) shapes_sent_ = false;
  if (TRY(ready()) == RequestStatus::not_taken) return RequestStatus::not_taken;
  copied_ = 0;
  for (const Operand& o : operands_) {
    if (!o.pointed || o.is_missing() || o.read_from) continue;
    copy(read_.data() + o.at, o.pointed, o.tensor.byte_size(), resources);
    copied_ += o.tensor.byte_size();
  }
  if (graphs_) share_with_graphs();
  Packer(message_) << Verb::run << id_ << (resources.thread_pool ? resources.threads : 1);
  if (TRY(ask("`enqueue`", &resources)) == RequestStatus::not_taken) return RequestStatus::not_taken;
  if (graphs_) copied_ += graphs_->copied_bytes();
  for (const Placed& p : results_) {
    if (p.kind != Placed::Kind::placed || !p.to) continue;
    copy(p.to, written_.data() + p.at, p.place.byte_size(), resources);
    copied_ += p.place.byte_size();
  }
  return take_late(resources);
}

/// After a run, whose answer is in message_.
Result<RequestStatus> RemoteRunner::take_late(const RunResources& resources) {
  const std::string failure = message_;
  Unpacker answer(failure);
  answer.number();
  for (size_t k = 0; k < results_.size(); ++k) {
    if (results_[k].kind != Placed::Kind::late) continue;
    Sizes sizes = answer.numbers();
    if (sizes.size() > TENON_MAX_RANK || std::ranges::any_of(sizes, [](int64_t size) { return size < 0; }))
      return fail(Code::device_failed, object_->place(), fmt::format("it sent impossible sizes of result {}", k))
          .expected(fmt::format("at most {} sizes from 0", TENON_MAX_RANK))
          .found(fmt::format("[{}]", fmt::join(sizes, ",")));
    Tensor out = TRY(Tensor::make(dtypes_[k], std::move(sizes)));
    const auto part = TRY(SharedFile::part(in_.process->file(), static_cast<uint64_t>(out.byte_size())));
    Packer(message_) << Verb::late << id_ << k << part.offset() << part.bytes() << out.byte_size();
    if (TRY(ask("`enqueue`", &resources)) == RequestStatus::not_taken) return RequestStatus::not_taken;
    copy(out.mutable_data(), part.data(), out.byte_size(), resources);
    copied_ += out.byte_size();
    results_[k].late = std::move(out);
  }
  return RequestStatus::answered;
}

/// The memory that it accessed illegally; empty: unknown.
std::string RemoteRunner::blame() const {
  const uint64_t address = in_.process ? in_.process->fault() : 0;
  const auto is_within = [&](uint64_t begin, uint64_t bytes) { return begin > 0 && address >= begin && address < begin + bytes; };
  if (is_within(read_address_, read_.bytes()) ||
      std::ranges::any_of(operands_, [&](const Operand& o) { return o.read_from && is_within(o.address, o.bytes()); }))
    return "it wrote into an operand";
  if (address < written_address_ || address >= written_address_ + written_.bytes()) return "";
  for (size_t k = 0; k < results_.size(); ++k) {
    const Placed& p = results_[k];
    if (p.kind != Placed::Kind::placed) continue;
    const uint64_t end = written_address_ + p.at + rounded(static_cast<uint64_t>(p.place.byte_size()), kAlignment);
    if (address >= end && address < end + kPage) return fmt::format("it wrote past the end of result {}", k);
  }
  return "it wrote before a result";
}

Error RemoteRunner::with_types(Error error) const {
  if (!in_.process || !in_.process->is_lost()) return error;
  std::string types;
  for (const Operand& o : operands_) types += (types.empty() ? "" : ", ") + (o.is_missing() ? "_" : type_text(o.tensor));
  const std::string why = blame();
  return std::move(error).found(fmt::format("{}{}, for ({}), tactic {}", error->found, why.empty() ? "" : ": " + why, types, tactic_));
}

}  // namespace tenon::plugin::worker
