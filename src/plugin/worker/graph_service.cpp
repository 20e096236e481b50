// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/graph_service.h"

#include "base/point_at.h"
#include "plugin/given_tensor.h"
#include "plugin/struct_versions.h"
#include "plugin/worker/exchange.h"

namespace tenon::plugin::worker {

void GraphService::pack_ports(Packer& to) const {
  to << graphs_.count();
  for (uint32_t k = 0; k < graphs_.count(); ++k) to << graphs_.ports(k).operands << graphs_.ports(k).results;
}

void GraphService::enter(std::shared_ptr<SharedFile> file) {
  room_ = {};
  in_room_.clear();
  file_ = std::move(file);
}

Result<void> GraphService::make_room(Unpacker& from, Packer& to) {
  room_ = {};
  in_room_.clear();
  room_ = TRY(SharedFile::part(file_, from.as<uint64_t>()));
  in_room_.add({.name = {.offset = room_.offset()}, .data = room_.data(), .bytes = room_.bytes(), .is_written = true});
  to << room_.offset() << room_.bytes();
  return {};
}

bool GraphService::read_tensors(Unpacker& from, std::vector<Tensor>& tensors, bool is_written) {
  for (Tensor& t : tensors) {
    auto view = blank<tenon_tensor>();
    view.dtype = from.as<int32_t>();
    view.layout = TENON_ROW_MAJOR;
    const Sizes sizes = from.numbers();
    view.rank = static_cast<int32_t>(sizes.size());
    view.sizes = sizes.data();
    view.data = &view;  // any address that is not null; point_at() below sets the real one
    const CommonMemory::Name location{.where = from.number(), .offset = from.as<uint64_t>()};
    auto made = from.is_broken() ? Result<Tensor>(fail(Code::bad_input, "", "")) : given_tensor(&view, {});
    if (!made) return false;
    const auto bytes = static_cast<uint64_t>(made->byte_size());
    const std::byte* const in_memory = memory_.at(location, bytes, is_written);
    const std::byte* const data = in_memory ? in_memory : in_room_.at(location, bytes, is_written);
    if (!data && bytes > 0) return false;
    if (!in_memory) copied_ += made->byte_size();
    t = *std::move(made);
    point_at(t, data);
  }
  return true;
}

bool GraphService::answer(std::string& message) {
  Unpacker from(message);
  const auto request = from.as<Reply>();
  Packer to(answer_);
  to << Reply::done;
  Result<void> done;
  if (request == Reply::room) {
    done = make_room(from, to);
  } else {
    const auto number = from.as<uint32_t>();
    if (number >= graphs_.count()) return false;
    operands_.resize(graphs_.ports(number).operands);
    results_.resize(graphs_.ports(number).results);
    if (!read_tensors(from, operands_, false) || !read_tensors(from, results_, true)) return false;
    done = graphs_.run(number, operands_, results_);
  }
  if (!done) pack(Packer(answer_) << Reply::failed, done.error());
  std::swap(message, answer_);
  return true;
}

}  // namespace tenon::plugin::worker
