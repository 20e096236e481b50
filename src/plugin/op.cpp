// SPDX-License-Identifier: Apache-2.0
#include "plugin/op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plugin/field.h"
#include "plugin/struct_versions.h"

namespace tenon::plugin {

namespace {

constexpr size_t kLongestName = 1024;
constexpr uint32_t kMostPorts = 1 << 16;

bool is_name(const char* text) {
  if (!text || !*text) return false;
  const std::string_view name(text);
  return name.size() <= kLongestName &&
         std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c != ':' && c != '"' && c != 0x7f; });
}

/// Copies and checks an op. Collects all faults for one error.
class OpReader {
 public:
  explicit OpReader(const tenon_op& given) { op_.table = adapted(given); }

  Result<Op> run() {
    read_names();
    read_ports("operand", op_.table.operands, op_.table.operand_count, op_.operands);
    read_ports("result", op_.table.results, op_.table.result_count, op_.results);
    read_fields();
    check_functions();
    for (uint32_t k = 0; op_.table.samples && k < op_.table.sample_count; ++k)
      if (op_.table.samples[k]) op_.samples.emplace_back(op_.table.samples[k]);
    if (faults_.empty()) return std::move(op_);
    return fail(Code::bad_file, fmt::format("plugin '{}::{}'", op_.name_space, op_.name), fmt::format("{}", fmt::join(faults_, "; ")))
        .expected("an op as tenon/plugin.h describes it")
        .advice("the library has to be mended");
  }

 private:
  template <class... Args>
  void add_fault(fmt::format_string<Args...> text, Args&&... args) {
    faults_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void read_names() {
    const auto take = [&](const char* text, const char* what, std::string& out) {
      if (!is_name(text)) add_fault("it has no {}", what);
      else out = text;
    };
    take(op_.table.name_space, "name_space", op_.name_space);
    take(op_.table.name, "name", op_.name);
    take(op_.table.version, "version", op_.version);
  }

  void read_ports(std::string_view what, const tenon_port* const* given, uint32_t count, std::vector<tenon_port>& out) {
    if (count > kMostPorts || (count > 0 && !given)) return add_fault("its list of {}s cannot be read", what);
    for (uint32_t k = 0; k < count; ++k) {
      if (!given[k]) return add_fault("{} {} is null", what, k);
      const tenon_port port = adapted(*given[k]);
      if (!is_name(port.name)) return add_fault("{} {} has no name", what, k);
      if (port.variadic && k + 1 < count) add_fault("{} '{}' is variadic and not the last", what, port.name);
      if (port.in_place < 0 || static_cast<size_t>(port.in_place) > op_.operands.size())
        add_fault("{} '{}' takes the place of operand {}, which there is none of", what, port.name, port.in_place - 1);
      if (std::ranges::any_of(out, [&](const tenon_port& p) { return std::string_view(p.name) == port.name; }))
        add_fault("two {}s are named '{}'", what, port.name);
      out.push_back(port);
    }
  }

  void read_fields() {
    if (op_.table.field_count > kMostPorts || (op_.table.field_count > 0 && !op_.table.fields))
      return add_fault("its list of fields cannot be read");
    for (uint32_t k = 0; k < op_.table.field_count; ++k) {
      if (!op_.table.fields[k]) return add_fault("field {} is null", k);
      const tenon_field_rule rule = adapted(*op_.table.fields[k]);
      if (!is_name(rule.name)) return add_fault("field {} has no name", k);
      if (bytes_of_field(rule.type, 0) < 0) add_fault("field '{}' is of type {}, which there is none of", rule.name, rule.type);
      else if (rule.has_range && !holds_numbers(rule.type))
        add_fault("field '{}' has a range, and its elements ({}) are no numbers", rule.name, name_of_type(rule.type));
      else if (rule.otherwise) check_default(rule);
      if (std::ranges::any_of(op_.fields, [&](const tenon_field_rule& f) { return std::string_view(f.name) == rule.name; }))
        add_fault("two fields are named '{}'", rule.name);
      op_.fields.push_back(rule);
    }
  }

  void check_default(const tenon_field_rule& rule) {
    if (rule.type == TENON_FIELD_CHAR) {
      const auto* const text = static_cast<const char*>(rule.otherwise);
      for (const char* const* choice = rule.choices; choice; ++choice) {
        if (!*choice) return add_fault("the default '{}' of field '{}' is none of its choices", text, rule.name);
        if (std::string_view(*choice) == text) return;
      }
      return;
    }
    if (rule.length < 0) return add_fault("field '{}' has a default of no length", rule.name);
    const auto copy =
        copy_of({.struct_size = sizeof(tenon_field), .name = rule.name, .type = rule.type, .length = rule.length, .data = rule.otherwise});
    if (!copy) return add_fault("the default of field '{}' cannot be read", rule.name);
    for (int64_t k = 0; rule.has_range && k < rule.length; ++k)
      if (const double v = number_of(*copy, k); !(v >= rule.least && v <= rule.most))
        add_fault("the default {} of field '{}' is not in {} .. {}", v, rule.name, rule.least, rule.most);
  }

  void check_functions() {
    const tenon_op& t = op_.table;
    if (t.kernel_of && (!op_.operands.empty() || !op_.results.empty() || !op_.fields.empty() || op_.has_definition()))
      add_fault("it is a kernel of {}, whose operands, results, fields and definition it has", t.kernel_of);
    if (!t.kernel_of && op_.results.empty()) add_fault("it has no result");
    if (t.enqueue && !t.create) add_fault("it has `enqueue` and no `create`");
    if (t.kernel_of && !t.enqueue) add_fault("it is a kernel of {} and has no `enqueue`", t.kernel_of);
    if (t.kernel_of || op_.has_definition()) return;
    if (!t.enqueue) add_fault("it has neither a definition nor `enqueue`");
    if (!t.infer) add_fault("it has neither a definition nor `infer`");
  }

  Op op_;
  std::vector<std::string> faults_;
};

}  // namespace

Result<Op> read_op(const tenon_op& given) { return OpReader(given).run(); }

}  // namespace tenon::plugin
