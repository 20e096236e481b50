// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/arguments.h"

namespace tenon::ops {

Ints ints_of(const Call& call, size_t input) { return call.has(input) ? integers_of(*call.in[input]) : Ints(); }

int64_t int_of(const Call& call, size_t input, int64_t otherwise) {
  return call.has(input) && call.in[input]->count() > 0 ? call.in[input]->integer(0) : otherwise;
}

double number_of(const Call& call, size_t input, double otherwise) {
  return call.has(input) && call.in[input]->count() > 0 ? call.in[input]->number(0) : otherwise;
}

std::optional<Ints> ints_of(const Call& call, std::string_view attribute, size_t input) {
  if (const ir::Attribute* a = call.view.attributes->find(attribute)) {
    if (const Ints* many = std::get_if<Ints>(a)) return *many;
    if (const int64_t* one = std::get_if<int64_t>(a)) return Ints{*one};
  }
  if (call.has(input)) return integers_of(*call.in[input]);
  return std::nullopt;
}

}  // namespace tenon::ops
