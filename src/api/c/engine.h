// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>

#include "api/c/calls.h"

namespace tenon::inline v1 {

/// The description of an engine in structs of the C interface. It points to texts and sizes that the engine owns.
class Description {
 public:
  explicit Description(const Engine& engine);
  const tenon_engine_info& info() const { return info_; }

 private:
  const tenon_value_info* add_port(const Port& port);
  const tenon_value_info* const* add_ports(std::span<const Port> ports);

  std::deque<tenon_value_info> ports_;  // deques: elements stay where they are
  std::deque<std::vector<const tenon_value_info*>> port_lists_;
  std::deque<std::vector<const char*>> dimensions_;
  std::deque<tenon_entry_info> entries_;
  std::deque<tenon_state_info> states_;
  std::vector<const tenon_entry_info*> entry_list_;
  std::vector<const tenon_state_info*> state_list_;
  tenon_engine_info info_{};
};

}  // namespace tenon::inline v1

struct tenon_engine {
  explicit tenon_engine(tenon::v1::Engine made) : engine(std::move(made)), description(engine) {}

  tenon::v1::Engine engine;
  tenon::v1::Description description;
};
