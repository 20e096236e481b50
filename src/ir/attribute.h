// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/tensor.h"

namespace tenon::ir {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;
/// The value of an attribute. Bodies (graphs) are not attributes: they are in Node::bodies. A class of its own, so that the code that
/// copies all these kinds is compiled once and not in every file that copies a node.
class Attribute : public std::variant<int64_t, float, std::string, Ints, Floats, Strings, Tensor> {
 public:
  using variant::variant;
  Attribute() = default;
  Attribute(const Attribute& other);
  Attribute(Attribute&& other) noexcept;
  Attribute& operator=(const Attribute& other);
  Attribute& operator=(Attribute&& other) noexcept;
  ~Attribute();
};

bool same(const Attribute& a, const Attribute& b);
size_t hash_of(const Attribute& a);
std::string text_of(const Attribute& a);

/// Few named attributes, sorted by name.
class Attributes {
 public:
  const Attribute* find(std::string_view name) const;
  void set(std::string name, Attribute value);
  void erase(std::string_view name);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  /// The value, or `default_value` where the name is missing or of another kind (the schema check has refused wrong kinds).
  int64_t integer(std::string_view name, int64_t default_value) const;
  float number(std::string_view name, float default_value) const;
  std::string text(std::string_view name, std::string_view default_value) const;
  Ints ints(std::string_view name, Ints default_value = {}) const;
  Floats floats(std::string_view name, Floats default_value = {}) const;
  friend bool operator==(const Attributes& a, const Attributes& b);

 private:
  std::vector<std::pair<std::string, Attribute>> items_;
};

}  // namespace tenon::ir
