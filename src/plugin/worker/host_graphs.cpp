// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/host_graphs.h"

#include <cstring>

#include "plugin/worker/exchange.h"

namespace tenon::plugin::worker {

namespace {

constexpr uint64_t kAlignment = 64;

uint64_t bytes_in(const Tensor& t) { return static_cast<uint64_t>(t.byte_size()); }

}  // namespace

HostGraphs::HostGraphs(Unpacker& from) : ports_(from.as<size_t>()) {
  for (Ports& p : ports_) {
    p.operands = from.as<size_t>();
    p.results = from.as<size_t>();
  }
}

Result<Unpacker> HostGraphs::request_from_host() {
  send(*lane_, message_);
  receive(*lane_, message_);
  Unpacker answer(message_);
  if (answer.as<Reply>() == Reply::done) return answer;
  return unpack_error(answer);
}

Result<void> HostGraphs::make_room(uint64_t bytes) {
  if (bytes <= room_.bytes()) return {};
  room_ = {};
  Packer(message_) << Reply::room << bytes;
  Unpacker answer = TRY(request_from_host());
  room_offset_ = answer.as<uint64_t>();
  room_ = TRY(Mapping::of(kFile, room_offset_, answer.as<uint64_t>()));
  return {};
}

void HostGraphs::place(std::span<const Tensor> tensors, bool are_written, uint64_t& in_room) {
  for (const Tensor& t : tensors) {
    const auto name = memory_.name_of(t.data(), bytes_in(t), are_written);
    placed_.push_back({.name = name.value_or(CommonMemory::Name{.offset = in_room}), .is_in_room = !name});
    if (!name) in_room += (bytes_in(t) + kAlignment - 1) / kAlignment * kAlignment;
  }
}

Result<void> HostGraphs::run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) {
  if (!lane_)
    return fail(Code::bad_input, "run_graph", "it is called while the node does not run")
        .expected("a call within `enqueue`")
        .found("one before or after it");
  placed_.clear();
  uint64_t in_room = 0;
  place(operands, false, in_room);
  place(results, true, in_room);
  TRY(make_room(in_room));
  for (size_t k = 0; k < operands.size(); ++k)
    if (placed_[k].is_in_room && bytes_in(operands[k]) > 0)
      std::memcpy(room_.data() + placed_[k].name.offset, operands[k].data(), bytes_in(operands[k]));
  Packer to(message_);
  to << Reply::graph << number;
  for (size_t k = 0; k < placed_.size(); ++k) {
    const Tensor& t = k < operands.size() ? operands[k] : results[k - operands.size()];
    to << t.dtype() << std::span<const int64_t>(t.shape()) << placed_[k].name.where
       << placed_[k].name.offset + (placed_[k].is_in_room ? room_offset_ : 0);
  }
  TRY(request_from_host());
  for (size_t k = 0; k < results.size(); ++k) {
    const Placed& p = placed_[operands.size() + k];
    if (p.is_in_room && bytes_in(results[k]) > 0)
      std::memcpy(const_cast<std::byte*>(results[k].data()), room_.data() + p.name.offset, bytes_in(results[k]));
  }
  return {};
}

}  // namespace tenon::plugin::worker
