// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

/// Values of templates: those of Python that a chat template meets. Sources: Jinja2 3.1's documentation, Python's language reference.
namespace tenon::llm::jinja {

class Value;
struct Sequence;
class Dictionary;
struct Namespace;
struct Function;
class Loop;
struct RenderState;

/// An argument that was not passed. No expression has this value.
struct Absent {};
/// The value of a name, attribute or item that does not exist; most operations on it are errors with the reason.
struct Undefined {
  std::shared_ptr<const std::string> reason;
};
struct None {};
/// Immutable bytes, UTF-8. safe: Markup of MarkupSafe, which escapes what is added to it.
struct Text {
  std::shared_ptr<const std::string> bytes;
  bool safe = false;
};

class Value {
 public:
  using Kinds =
      std::variant<Absent, Undefined, None, bool, int64_t, double, Text, std::shared_ptr<const Sequence>, std::shared_ptr<const Dictionary>,
                   std::shared_ptr<Namespace>, std::shared_ptr<const Function>, std::shared_ptr<Loop>>;

  Value() = default;
  static Value none() { return Value(Kinds(None{})); }
  static Value undefined(std::string reason);
  static Value boolean(bool value) { return Value(Kinds(std::in_place_type<bool>, value)); }
  static Value integer(int64_t value) { return Value(Kinds(std::in_place_type<int64_t>, value)); }
  static Value floating(double value) { return Value(Kinds(std::in_place_type<double>, value)); }
  static Value text(std::string value, bool safe = false);
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  static Value sequence(Sequence sequence);
  static Value dictionary(Dictionary dictionary);
  explicit Value(Kinds kinds) : kinds_(std::move(kinds)) {}

  /// The value as one of the kinds; nullptr where it is another.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&kinds_);
  }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(kinds_);
  }

  bool is_absent() const { return is<Absent>(); }
  bool is_undefined() const { return is<Undefined>(); }
  bool is_none() const { return is<None>(); }
  /// nullptr where it is no text; likewise below.
  const std::string* text() const;
  bool is_safe() const;
  const Sequence* sequence() const;
  const Dictionary* dictionary() const;
  /// A bool or an int, as an int.
  const int64_t* integer() const { return as<int64_t>(); }

  const Kinds& kinds() const { return kinds_; }

 private:
  Kinds kinds_;
};

enum class SequenceKind : uint8_t { list, tuple, range, keys, values, items, generator, reversed };

struct Sequence {
  SequenceKind kind = SequenceKind::list;
  std::vector<Value> items;
  int64_t start = 0, stop = 0, step = 1;  ///< of a range
  int height = 1;                         ///< levels of nested containers, itself included
  bool hashable = false;                  ///< it can be a dictionary key
  mutable size_t next = 0;                ///< generator, reversed: the items before it have been consumed

  bool is_iterator() const { return kind == SequenceKind::generator || kind == SequenceKind::reversed; }
};

/// Keys in the order in which they came. Keys are hashable values; 1, 1.0 and True are one key.
class Dictionary {
 public:
  using Entry = std::pair<Value, Value>;
  /// nullptr where there is none. Cost: constant for texts, linear for other keys.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);
  const std::vector<Entry>& entries() const { return entries_; }
  int height() const { return height_; }

 private:
  const size_t* index_of(std::string_view key) const;
  size_t position(const Value& key) const;  ///< the number of entries where there is none
  std::vector<Entry> entries_;
  std::unordered_map<std::string_view, size_t> index_of_;  ///< of texts
  int height_ = 1;
};

struct Namespace {
  Dictionary attributes;
};

/// Arguments of a call, in source order.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// A callable: a macro, a method of a value, a global function.
struct Function {
  std::string name;
  std::string type;  ///< Python's name of the type
  std::function<Result<Value>(RenderState&, Arguments)> call;
  Dictionary attributes;
};

/// Levels of containers in a value; 0 for others.
int height_of(const Value& value);
/// Python's name of the type: "dict", "str", "NoneType", ...
std::string_view type_name(const Value& value);
bool is_true(const Value& value);
/// bool, int or float.
bool is_number(const Value& value);
/// The value of a number (is_number) as a double.
double number_of(const Value& value);
/// A bool or an int, as an int; false for others.
bool integer_of(const Value& value, int64_t& out);
/// Whether the value can be a dictionary key.
bool is_hashable(const Value& value);

/// An error of a template's operation; the interpreter adds the place.
Error run_error(std::string what);
/// The error for using an undefined value, with the reason.
Error undefined_error(const Value& value);

}  // namespace tenon::llm::jinja
