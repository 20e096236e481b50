// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/lookup_table.h"

#include <bit>
#include <unordered_map>

#include "ops/core/refuse.h"
#include "ops/reference/elements.h"

namespace tenon::ops {

Result<void> infer_look_up(NodeView& view, const LookupTable& d) {
  if (d.keys.count() != d.values.count() || d.keys.count() == 0)
    return refuse(view, Code::bad_attribute, "as many values as keys are needed, and one at least")
        .expected(std::to_string(d.keys.count()) + " values")
        .found(std::to_string(d.values.count()));
  const DType found = dtype_of(view, 0);
  if (found != DType::none && found != d.keys.dtype())
    return refuse(view, Code::dtype_mismatch, "keys have another type than the operand")
        .expected(std::string(name_of(d.keys.dtype())))
        .found(std::string(name_of(found)));
  Type type = view.type(0);
  type.dtype = d.values.dtype();
  set_output(view, 0, std::move(type));
  return {};
}

namespace {

/// A hash key: equal elements have equal numbers.
uint64_t bits_of_key(const Tensor& t, int64_t i) {
  if (!is_float(t.dtype())) return static_cast<uint64_t>(t.integer(i));
  const double value = t.number(i);
  return std::bit_cast<uint64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0);
}

template <class Key, class Of>
void look_up(const Tensor& x, const LookupTable& d, Tensor& y, const Of& key_of) {
  std::unordered_map<Key, int64_t> positions;
  for (int64_t k = 0; k < d.keys.count(); ++k) positions.emplace(key_of(d.keys, k), k);
  for (int64_t i = 0; i < x.count(); ++i) {
    const auto at = positions.find(key_of(x, i));
    const Tensor& from = at == positions.end() ? d.default_value : d.values;
    const int64_t k = at == positions.end() ? 0 : at->second;
    if (y.dtype() == from.dtype()) copy_element(y, i, from, k);
    else y.set_number(i, from.number(k));
  }
}

}  // namespace

void look_up(const Tensor& x, const LookupTable& d, Tensor& y) {
  if (d.keys.dtype() == DType::string)
    return look_up<std::string>(x, d, y, [](const Tensor& t, int64_t i) { return t.strings()[static_cast<size_t>(i)]; });
  look_up<uint64_t>(x, d, y, bits_of_key);
}

Result<void> look_up(Call& call, const LookupTable& d) {
  look_up(*call.in[0], d, *TRY(call.make(0, call.in[0]->shape())));
  return {};
}

ir::Strings texts_named(const NodeView& view, std::string_view name) {
  const ir::Attribute* a = view.attributes->find(name);
  return a ? std::get<ir::Strings>(*a) : ir::Strings();
}

Tensor texts(const ir::Strings& list) { return Tensor::of_strings({static_cast<int64_t>(list.size())}, list); }
Tensor integers(const Ints& list) { return Tensor::of_i64({static_cast<int64_t>(list.size())}, list); }
Tensor floats(const ir::Floats& list) { return Tensor::of_f32({static_cast<int64_t>(list.size())}, list); }
Tensor text(std::string value) { return Tensor::of_strings({}, {std::move(value)}); }

}  // namespace tenon::ops
