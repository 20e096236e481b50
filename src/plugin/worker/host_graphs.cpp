// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/host_graphs.h"

#include <cstring>

#include "plugin/worker/exchange.h"

namespace tenon::plugin::worker {

namespace {

constexpr uint64_t kAlignment = 64;  ///< of each tensor in room_

uint64_t bytes_of(const Tensor& t) { return static_cast<uint64_t>(t.byte_size()); }

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

void HostGraphs::locate(std::span<const Tensor> tensors, bool are_written, uint64_t& room_used) {
  for (const Tensor& t : tensors) {
    const auto name = memory_.name_of(t.data(), bytes_of(t), are_written);
    locations_.push_back({.name = name.value_or(CommonMemory::Name{.offset = room_used}), .is_in_room = !name});
    if (!name) room_used += (bytes_of(t) + kAlignment - 1) / kAlignment * kAlignment;
  }
}

Result<void> HostGraphs::run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) {
  if (!lane_)
    return fail(Code::bad_input, "run_graph", "it is called while the node does not run")
        .expected("a call within `enqueue`")
        .found("one before or after it");
  locations_.clear();
  uint64_t room_used = 0;
  locate(operands, false, room_used);
  locate(results, true, room_used);
  TRY(make_room(room_used));
  for (size_t k = 0; k < operands.size(); ++k)
    if (locations_[k].is_in_room && bytes_of(operands[k]) > 0)
      std::memcpy(room_.data() + locations_[k].name.offset, operands[k].data(), bytes_of(operands[k]));
  Packer to(message_);
  to << Reply::graph << number;
  for (size_t k = 0; k < locations_.size(); ++k) {
    const Tensor& t = k < operands.size() ? operands[k] : results[k - operands.size()];
    to << t.dtype() << std::span<const int64_t>(t.shape()) << locations_[k].name.where
       << locations_[k].name.offset + (locations_[k].is_in_room ? room_offset_ : 0);
  }
  TRY(request_from_host());
  for (size_t k = 0; k < results.size(); ++k) {
    const Location& p = locations_[operands.size() + k];
    if (p.is_in_room && bytes_of(results[k]) > 0)
      std::memcpy(const_cast<std::byte*>(results[k].data()), room_.data() + p.name.offset, bytes_of(results[k]));
  }
  return {};
}

}  // namespace tenon::plugin::worker
