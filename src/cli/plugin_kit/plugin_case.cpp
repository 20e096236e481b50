// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/plugin_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tenon::cli {

namespace {

constexpr int64_t kMostElements = 1 << 16;  ///< of an operand that was drawn: the reference is slow

std::string text_of(const ops::Sample& sample) {
  std::string out;
  for (const ops::SampleOperand& o : sample.operands) {
    out += out.empty() ? "" : ", ";
    out += o.present ? type_text(o.dtype, o.shape) : "_";
    if (o.value) out += " = ...";
  }
  std::string separator = "; ";
  for (const auto& [name, value] : sample.attributes)
    out += fmt::format("{}{}={}", std::exchange(separator, ", "), name, ir::text_of(value));
  return out;
}

ops::SampleOperand drawn_operand(const tenon_port& port, Sizes shape) {
  ops::SampleOperand out;
  out.shape = std::move(shape);
  if (port.dtypes != 0 && !(port.dtypes & TENON_DTYPE_BIT(TENON_F32)))
    for (uint32_t k = 0; k < 32; ++k)
      if (port.dtypes & TENON_DTYPE_BIT(k)) {
        out.dtype = static_cast<DType>(k);
        break;
      }
  if (!is_float(out.dtype)) out.low = is_signed(out.dtype) ? -10 : 0, out.high = 10;
  return out;
}

/// All operands of one shape; fields that must be given get a value, others none.
ops::Sample drawn(const plugin::Op& op, const Sizes& shape) {
  ops::Sample out;
  for (const tenon_port& port : op.operands) {
    out.operands.push_back(drawn_operand(port, shape));
    if (port.variadic) out.operands.push_back(out.operands.back());
  }
  out.outputs = op.results.size();
  for (const tenon_field_rule& rule : op.fields) {
    if (rule.otherwise || rule.optional) continue;
    const auto values = other_values(rule).values;
    if (!values.empty()) out.attributes.set(rule.name, values[0]);
    else if (rule.type == TENON_FIELD_CHAR) out.attributes.set(rule.name, std::string("text"));
  }
  return out;
}

/// Whether a kernel takes a case of the op: dtypes, and what it says of attributes when it is made. Only operands that are tensors with
/// bytes.
Result<void> takes(const plugin::Op& op, const PluginCase& at) {
  for (const Tensor& t : at.made.operands)
    if (!t.empty_handle() && !t.has_bytes()) return fail(Code::not_supported, op.place(), "it takes tensors of numbers");
  const auto object = TRY(create_at(op, at, TENON_BUILD, at.fields));
  TRY(plugin::formats_of(*object, asked_of(at), at.made.operands.size(), 1));
  return {};
}

class Drawing {
 public:
  explicit Drawing(const PluginOf& plugin) : plugin_(plugin) {}

  PluginCases run() {
    for (const ops::Sample& sample : samples()) {
      sizes(sample);
      fields(sample);
    }
    return std::move(out_);
  }

 private:
  std::vector<ops::Sample> samples() {
    std::vector<ops::Sample> out;
    for (std::string_view each : plugin_.def.samples) {
      const std::string text(each);
      auto sample = ops::parse_sample(plugin_.def, text);
      if (sample && given(*sample, text)) out.push_back(*std::move(sample));
      else if (!sample) out_.refused.emplace_back(text, "it cannot be read: " + sample.error()->what);
    }
    for (const Sizes& shape : {Sizes{2, 3}, Sizes{4}, Sizes{}, Sizes{2, 3, 5, 4}}) {
      if (!plugin_.def.samples.empty() || !out.empty()) break;
      ops::Sample sample = drawn(plugin_.op, shape);
      if (given(sample, text_of(sample))) out.push_back(std::move(sample));
    }
    if (!out.empty() && plugin_.def.samples.empty()) out_.refused.clear();
    return out;
  }

  bool given(const ops::Sample& sample, const std::string& text) {
    auto made = make_case(plugin_, sample);
    if (!made && plugin_.is_kernel()) return false;  // it need not take all of them
    if (!made) {
      out_.refused.emplace_back(text, made.error()->what + (made.error()->found.empty() ? "" : ": " + made.error()->found));
      return false;
    }
    made->is_as_given = !plugin_.is_kernel();
    made->text = text;
    out_.cases.push_back(*std::move(made));
    return true;
  }

  void also(const ops::Sample& sample) {
    for (const ops::SampleOperand& o : sample.operands) {
      int64_t count = 1;
      for (int64_t s : o.shape) count *= s;
      if (count > kMostElements) return;
    }
    auto made = make_case(plugin_, sample);
    if (!made || std::ranges::any_of(out_.cases, [&](const PluginCase& c) { return c.text == made->text; })) return;
    out_.cases.push_back(*std::move(made));
  }

  void sizes(const ops::Sample& sample) {
    also(with_sizes(sample, [](int64_t) { return 0; }));
    also(with_sizes(sample, [](int64_t) { return 1; }));
    also(with_sizes(sample, [](int64_t s) { return 2 * s + 1; }));
    also(with_sizes(sample, [](int64_t s) { return 4 * s; }));
    also(with_sizes(sample, [](int64_t s) { return s - 1; }));
  }

  void fields(const ops::Sample& sample) {
    for (const tenon_field_rule& rule : plugin_.op.fields)
      for (const ir::Attribute& value : other_values(rule).values) {
        ops::Sample other = sample;
        other.attributes.set(rule.name, value);
        also(other);
      }
  }

  const PluginOf& plugin_;
  PluginCases out_;
};

}  // namespace

Result<std::unique_ptr<plugin::Object>> create_at(const plugin::Op& op, const PluginCase& at, tenon_phase phase,
                                                  std::span<const plugin::Field> fields) {
  return plugin::Object::create(op, phase, "node", fields, at.made.operands.size(), at.results.size());
}

std::vector<plugin::Asked> asked_of(const PluginCase& at) {
  std::vector<plugin::Asked> out;
  for (const Tensor& t : at.made.operands) out.push_back({t.dtype(), t.rank()});
  for (const ir::Type& type : at.results) out.push_back({type.dtype, type.has_rank() ? type.rank() : -1});
  return out;
}

std::vector<tenon_format> formats_of(const PluginCase& at, int32_t layout) {
  std::vector<tenon_format> out;
  for (const Tensor& t : at.made.operands) out.push_back({static_cast<int32_t>(t.dtype()), layout});
  for (const ir::Type& type : at.results) out.push_back({static_cast<int32_t>(type.dtype), layout});
  return out;
}

ops::Sample with_sizes(ops::Sample sample, const std::function<int64_t(int64_t)>& size_of) {
  for (ops::SampleOperand& o : sample.operands)
    for (int64_t& size : o.shape)
      if (size > 1 && !o.value) size = size_of(size);
  return sample;
}

Result<PluginCase> make_case(const PluginOf& plugin, ops::Sample sample, uint64_t seed, bool symbolic) {
  PluginCase out;
  out.text = text_of(sample);
  sample.outputs = std::max(sample.outputs, plugin.op.results.size());
  out.made = TRY(ops::build_sample(plugin.def, sample, seed, symbolic, true, plugin.table));
  out.sample = std::move(sample);
  const ir::NodeView view = out.view();
  out.fields = plugin.is_kernel() ? ops::attributes_as_fields(view) : TRY(ops::fields_of(view, plugin.op));
  if (plugin.is_kernel()) TRY(takes(plugin.op, out));
  out.results = view.outputs;
  if (plugin.op.table.add_graphs) out.graphs = TRY(ops::added_graphs_of(view, *TRY(create_at(plugin.op, out, TENON_BUILD, out.fields))));
  return out;
}

PluginCases draw_cases(const PluginOf& plugin) { return Drawing(plugin).run(); }

}  // namespace tenon::cli
