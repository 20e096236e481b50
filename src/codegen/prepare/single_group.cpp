// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/single_group.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tenon::codegen {

namespace {

template <class Renumber>
void renumber(Nest& nest, const Renumber& number) {
  for (NestAccess& a : nest.accesses) a.array = number(a.array);
  for (NestOutput& o : nest.outputs) o.array = number(o.array);
}

template <class Renumber>
void renumber(Group& group, const Renumber& number) {
  for (Nest& nest : group.nests) renumber(nest, number);
  if (group.epilogue) renumber(group.epilogue->map, number);
  if (auto* of = std::get_if<ContractGroup>(&group.payload))
    for (ArrayId* array : {&of->panels, &of->scales})
      if (*array >= 0) *array = number(*array);
}

}  // namespace

SingleGroup::SingleGroup(Group of, const Plan& from) : group(std::move(of)) {
  plan.limits = from.limits;
  plan.sums_in_order = from.sums_in_order;
  plan.activations = from.activations;
  renumber(group, [&](ArrayId a) { return own_number(a, from); });
}

ArrayId SingleGroup::own_number(ArrayId array, const Plan& from) {
  const auto known = std::ranges::find(numbers_, array);
  const auto number = static_cast<ArrayId>(known - numbers_.begin());
  if (known != numbers_.end()) return number;
  numbers_.push_back(array);
  plan.arrays.push_back(from.arrays[array]);
  if (const ArrayId same = from.arrays[array].same_bytes; same >= 0) {
    const ArrayId own = own_number(same, from);
    plan.arrays[number].same_bytes = own;
  }
  return number;
}

void SingleGroup::move_to(Plan& to) {
  for (size_t k = numbers_.size(); k < plan.arrays.size(); ++k) {
    numbers_.push_back(static_cast<ArrayId>(to.arrays.size()));
    to.arrays.push_back(std::move(plan.arrays[k]));
  }
  const auto number = [&](ArrayId a) { return numbers_[a]; };
  renumber(group, number);
  for (Nest& nest : copies) renumber(nest, number);
}

}  // namespace tenon::codegen
