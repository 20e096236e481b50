// SPDX-License-Identifier: Apache-2.0
#include "program/looked_up.h"

#include <algorithm>

#include "codegen/analysis/nest_properties.h"

namespace tenon::program {

namespace {

using codegen::ArrayId;
using codegen::NestAccess;

class Readers {
 public:
  explicit Readers(const codegen::Plan& plan) : plan_(plan), looked_(plan.arrays.size()), whole_(plan.arrays.size()) {}

  void add(const NestAccess& access) {
    const auto reads_input = [](const Expr& e) { return e && codegen::mentions(e, ExprOp::input); };
    mark(access.array, reads_input(access.flat) || std::ranges::any_of(access.index, reads_input) ? looked_ : whole_);
  }
  void add_whole(ArrayId a) { mark(a, whole_); }

  std::vector<bool> take() {
    for (size_t a = 0; a < looked_.size(); ++a) looked_[a] = looked_[a] && !whole_[a];
    return std::move(looked_);
  }

 private:
  void mark(ArrayId a, std::vector<bool>& as) {
    for (; a >= 0; a = plan_.arrays[a].same_bytes) as[a] = true;
  }

  const codegen::Plan& plan_;
  std::vector<bool> looked_, whole_;
};

}  // namespace

std::vector<bool> looked_up(const codegen::Plan& plan) {
  Readers readers(plan);
  for (const codegen::Group& group : plan.groups) {
    for (const codegen::Nest& nest : group.nests)
      for (const NestAccess& access : nest.accesses) readers.add(access);
    if (group.epilogue)
      for (const NestAccess& access : group.epilogue->map.accesses) readers.add(access);
    for (ArrayId a : group.inputs) readers.add_whole(a);
  }
  for (ArrayId a : plan.outputs) readers.add_whole(a);
  return readers.take();
}

}  // namespace tenon::program
