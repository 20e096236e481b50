// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/term_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace tenon::rewrite {
namespace {

template <class... F>
struct Cases : F... {
  using F::operator()...;
};

/// "[1, 2]". fmt::join would compile fmt's whole formatting of numbers here.
template <class T>
std::string list_text(const std::vector<T>& list) {
  std::string out;
  for (const T& element : list) out += (out.empty() ? "[" : ", ") + fmt::format("{}", element);
  return out.empty() ? "[]" : out + "]";
}

bool near(double x, double y) { return x == y || std::abs(x - y) <= 1e-6 * std::abs(y) || (std::isnan(x) && std::isnan(y)); }

/// `of`: elements of both, compared by `same`, which may have no answer.
template <class List, class Same>
std::optional<bool> all_same(const List& a, const List& b, Same same) {
  if (a.size() != b.size()) return false;
  bool known = true;
  for (size_t i = 0; i < a.size(); ++i) {
    const std::optional<bool> one = same(a[i], b[i]);
    if (one == false) return false;
    known &= one.has_value();
  }
  return known ? std::optional(true) : std::nullopt;
}

std::optional<Numbers> as_numbers(const TermValue& d) {
  if (const auto* n = std::get_if<Numbers>(&d)) return *n;
  if (const auto* i = std::get_if<ir::Ints>(&d)) return Numbers(i->begin(), i->end());
  return std::nullopt;
}

bool same_tensor(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && ir::same(ir::Attribute(a), ir::Attribute(b));
}

}  // namespace

TermValue::TermValue(const TermValue& other) = default;
TermValue::TermValue(TermValue&& other) noexcept = default;
TermValue& TermValue::operator=(const TermValue& other) = default;
TermValue& TermValue::operator=(TermValue&& other) noexcept = default;
TermValue::~TermValue() = default;

TermValue term_value_of(const ir::Attribute& attribute) {
  return std::visit(
      Cases{[](float f) { return TermValue(static_cast<double>(f)); },
            [](const ir::Floats& f) { return TermValue(Numbers(f.begin(), f.end())); }, [](const auto& other) { return TermValue(other); }},
      attribute);
}

std::optional<ir::Attribute> attribute_of(const TermValue& value, bool floating) {
  using Out = std::optional<ir::Attribute>;
  return std::visit(
      Cases{[&](int64_t i) { return Out(floating ? ir::Attribute(static_cast<float>(i)) : ir::Attribute(i)); },
            [](double d) { return Out(static_cast<float>(d)); },
            [&](const ir::Ints& i) { return Out(floating ? ir::Attribute(ir::Floats(i.begin(), i.end())) : ir::Attribute(i)); },
            [](const Numbers& n) { return Out(ir::Floats(n.begin(), n.end())); }, [](const std::string& s) { return Out(s); },
            [](const ir::Strings& s) { return Out(s); }, [](const Tensor& t) { return Out(t); },
            [](DType d) { return Out(static_cast<int64_t>(d)); },
            [](const DimList& dims) {
              ir::Ints out;
              for (Dim d : dims) {
                if (!d.is_number()) return Out();
                out.push_back(d.value());
              }
              return Out(std::move(out));
            },
            [](const auto&) { return Out(); }},
      value);
}

std::optional<double> as_number(const TermValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

std::optional<int64_t> as_integer(const TermValue& value) {
  const auto* i = std::get_if<int64_t>(&value);
  return i ? std::optional(*i) : std::nullopt;
}

std::optional<Dim> as_dim(const TermValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return std::abs(*i) < (int64_t{1} << 61) ? std::optional(Dim(*i)) : std::nullopt;
  if (const auto* d = std::get_if<Dim>(&value)) return *d;
  return std::nullopt;
}

std::optional<DimList> as_dims(const TermValue& value) {
  if (const auto* dims = std::get_if<DimList>(&value)) return *dims;
  if (const auto* i = std::get_if<ir::Ints>(&value)) {
    DimList out;
    for (int64_t n : *i) out.push_back(as_dim(n).value_or(Dim(0)));
    return out;
  }
  return std::nullopt;
}

/// An attribute such as `to` holds the number of a dtype.
static std::optional<bool> is_number_of(DType dtype, const TermValue& value) {
  const auto number = as_integer(value);
  return number ? std::optional(*number == static_cast<int64_t>(dtype)) : std::nullopt;
}

std::optional<bool> equal(const TermValue& a, const TermValue& b) {
  const auto x = as_number(a), y = as_number(b);
  if (x && y) return near(*x, *y);
  if (const auto p = as_dim(a), q = as_dim(b); p && q) return p->equals(*q);
  const auto *s = std::get_if<DType>(&a), *t = std::get_if<DType>(&b);
  if (s && !t) return is_number_of(*s, b);
  if (t && !s) return is_number_of(*t, a);
  if (std::holds_alternative<DimList>(a) || std::holds_alternative<DimList>(b)) {
    const auto p = as_dims(a), q = as_dims(b);
    return p && q ? all_same(*p, *q, [](Dim m, Dim n) { return m.equals(n); }) : std::nullopt;
  }
  if (const auto p = as_numbers(a), q = as_numbers(b); p && q)
    return all_same(*p, *q, [](double m, double n) { return std::optional(near(m, n)); });
  if (a.index() != b.index()) return std::nullopt;
  if (const auto* tensor = std::get_if<Tensor>(&a)) return same_tensor(*tensor, std::get<Tensor>(b));
  return std::visit(
      [&](const auto& value) -> std::optional<bool> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (requires { value == value; }) return value == std::get<T>(b);
        else return std::nullopt;
      },
      a);
}

std::optional<bool> less(const TermValue& a, const TermValue& b) {
  if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b)) {
    const auto x = as_number(a), y = as_number(b);
    return x && y ? std::optional(*x < *y) : std::nullopt;
  }
  const auto p = as_dim(a), q = as_dim(b);
  return p && q ? p->less(*q) : std::nullopt;
}

bool agrees(const ir::Attribute& found, const TermValue& wanted) {
  const auto* i = std::get_if<int64_t>(&found);
  const auto* f = std::get_if<float>(&found);
  if (const auto y = as_number(wanted); y && (i || f)) return near(i ? static_cast<double>(*i) : *f, *y);
  if (const auto* s = std::get_if<std::string>(&wanted))
    return std::holds_alternative<std::string>(found) && std::get<std::string>(found) == *s;
  if (const auto* l = std::get_if<ir::Ints>(&wanted); l && std::holds_alternative<ir::Ints>(found)) return std::get<ir::Ints>(found) == *l;
  return equal(term_value_of(found), wanted) == true;
}

std::string text_of(const TermValue& value) {
  return std::visit(
      Cases{[](ir::ValueId v) { return std::string(v ? "a value" : "nothing"); }, [](int64_t i) { return fmt::format("{}", i); },
            [](double d) { return fmt::format("{}", d); }, [](const std::string& s) { return fmt::format("\"{}\"", s); },
            [](const ir::Strings& s) { return fmt::format("[\"{}\"]", fmt::join(s, "\", \"")); },
            [](const Tensor& t) { return type_text(t.dtype(), t.shape()); }, [](Dim d) { return d.text(); },
            [](const DimList& d) { return tenon::text_of(d); }, [](DType d) { return std::string(name_of(d)); },
            [](const Values& v) { return fmt::format("{} values", v.size()); }, [](const auto& list) { return list_text(list); }},
      value);
}

}  // namespace tenon::rewrite
