// SPDX-License-Identifier: Apache-2.0
#include "ir/attribute.h"

#include <algorithm>
#include <bit>

#include "ir/literal.h"

namespace tenon::ir {

Attribute::Attribute(const Attribute& other) = default;
Attribute::Attribute(Attribute&& other) noexcept = default;
Attribute& Attribute::operator=(const Attribute& other) = default;
Attribute& Attribute::operator=(Attribute&& other) noexcept = default;
Attribute::~Attribute() = default;

static bool same_bits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

bool same(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (auto* x = std::get_if<float>(&a)) return same_bits(*x, std::get<float>(b));
  if (auto* x = std::get_if<Floats>(&a)) return std::ranges::equal(*x, std::get<Floats>(b), same_bits);
  if (auto* x = std::get_if<Tensor>(&a)) return same(*x, std::get<Tensor>(b));
  if (auto* x = std::get_if<int64_t>(&a)) return *x == std::get<int64_t>(b);
  if (auto* x = std::get_if<std::string>(&a)) return *x == std::get<std::string>(b);
  if (auto* x = std::get_if<Ints>(&a)) return *x == std::get<Ints>(b);
  return std::get<Strings>(a) == std::get<Strings>(b);
}

size_t hash_of(const Attribute& a) {
  size_t h = a.index();
  auto mix = [&](size_t v) { h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2); };
  if (auto* x = std::get_if<float>(&a)) mix(std::bit_cast<uint32_t>(*x));
  if (auto* x = std::get_if<int64_t>(&a)) mix(static_cast<size_t>(*x));
  if (auto* x = std::get_if<std::string>(&a)) mix(std::hash<std::string>{}(*x));
  if (auto* x = std::get_if<Tensor>(&a)) mix(hash_of(*x));
  if (auto* x = std::get_if<Ints>(&a)) {
    for (int64_t v : *x) mix(static_cast<size_t>(v));
  }
  if (auto* x = std::get_if<Floats>(&a)) {
    for (float v : *x) mix(std::bit_cast<uint32_t>(v));
  }
  if (auto* x = std::get_if<Strings>(&a)) {
    for (const std::string& v : *x) mix(std::hash<std::string>{}(v));
  }
  return h;
}

/// "[a, b]"; an empty list carries its kind in front, since nothing else gives it.
template <class T, class F>
static std::string list_text(const std::vector<T>& list, const char* kind, F text) {
  if (list.empty()) return std::string(kind) + "[]";
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) {
    if (i) out += ", ";
    out += text(list[i]);
  }
  return out + "]";
}

std::string text_of(const Attribute& a) {
  if (auto* x = std::get_if<float>(&a)) return float_literal(*x);
  if (auto* x = std::get_if<int64_t>(&a)) return std::to_string(*x);
  if (auto* x = std::get_if<std::string>(&a)) return quoted(*x);
  if (auto* x = std::get_if<Ints>(&a)) return list_text(*x, "", [](int64_t v) { return std::to_string(v); });
  if (auto* x = std::get_if<Floats>(&a)) return list_text(*x, "floats", float_literal);
  if (auto* x = std::get_if<Strings>(&a)) return list_text(*x, "strings", quoted);
  const Tensor& t = std::get<Tensor>(a);
  if (t.empty_handle()) return "none";
  return type_text(t.dtype(), t.shape()) + " = " + elements_text(t);
}

template <class Items>
static auto place_of(Items& items, std::string_view name) {
  return std::ranges::lower_bound(items, name, {}, [](const auto& item) -> std::string_view { return item.first; });
}

const Attribute* Attributes::find(std::string_view name) const {
  auto at = place_of(items_, name);
  return at != items_.end() && at->first == name ? &at->second : nullptr;
}

void Attributes::set(std::string name, Attribute value) {
  auto at = place_of(items_, name);
  if (at != items_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    items_.emplace(at, std::move(name), std::move(value));
  }
}

void Attributes::erase(std::string_view name) {
  auto at = place_of(items_, name);
  if (at != items_.end() && at->first == name) items_.erase(at);
}

template <class T>
static T value_or(const Attributes& attributes, std::string_view name, T default_value) {
  const Attribute* a = attributes.find(name);
  const T* x = a ? std::get_if<T>(a) : nullptr;
  return x ? *x : default_value;
}

int64_t Attributes::integer(std::string_view name, int64_t default_value) const { return value_or(*this, name, default_value); }
float Attributes::number(std::string_view name, float default_value) const { return value_or(*this, name, default_value); }
std::string Attributes::text(std::string_view name, std::string_view default_value) const {
  return value_or(*this, name, std::string(default_value));
}
Ints Attributes::ints(std::string_view name, Ints default_value) const { return value_or(*this, name, std::move(default_value)); }
Floats Attributes::floats(std::string_view name, Floats default_value) const { return value_or(*this, name, std::move(default_value)); }

bool operator==(const Attributes& a, const Attributes& b) {
  return std::ranges::equal(a.items_, b.items_,
                            [](const auto& x, const auto& y) { return x.first == y.first && same(x.second, y.second); });
}

}  // namespace tenon::ir
