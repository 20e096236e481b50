// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/plugin_kit/plugin_case.h"
#include "cli/plugin_kit/plugin_run.h"

namespace tenon::cli {

namespace {

constexpr int64_t kMostElements = 1 << 16;  ///< of an operand that was drawn: the reference is slow

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

std::string what_of(const Error& error) { return error->what + (error->found.empty() ? "" : ": " + error->found); }

/// One life, as far as a run.
Result<void> tried(const plugin::Op& op, const PluginCase& at) {
  const auto object = TRY(create_at(op, at, TENON_BUILD, at.fields));
  if (!op.runs()) return {};
  PluginRun run(*object, at);
  TRY(run.set_shapes());
  TRY(run.run());
  return {};
}

class Drawing {
 public:
  explicit Drawing(const TestedPlugin& plugin) : plugin_(plugin) {}

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
      if (!sample) out_.refused.push_back({text, "it cannot be read: " + sample.error()->what});
      else if (plugin_.is_kernel() ? made_up(*sample) : given(*sample, text)) out.push_back(*std::move(sample));
    }
    for (const Sizes& shape : {Sizes{2, 3}, Sizes{4}, Sizes{}, Sizes{2, 3, 5, 4}}) {
      if (!plugin_.def.samples.empty() || !out.empty()) break;
      ops::Sample sample = drawn(plugin_.op, shape);
      if (made_up(sample)) out.push_back(std::move(sample));
    }
    return out;
  }

  bool given(const ops::Sample& sample, const std::string& text) {
    auto made = make_case(plugin_, sample);
    if (!made) {
      out_.refused.push_back({text, what_of(made.error())});
      return false;
    }
    made->is_as_given = true;
    made->text = text;
    out_.cases.push_back(*std::move(made));
    return true;
  }

  /// Adds a generated case if the op supports it. The same for samples of an op for which the plugin is only a kernel: it need not support
  /// all.
  bool made_up(const ops::Sample& sample, bool is_varied = false) {
    auto made = make_case(plugin_, sample);
    if (made && std::ranges::any_of(out_.cases, [&](const PluginCase& c) { return c.text == made->text; })) return false;
    const auto refusal = made ? tried(plugin_.op, *made) : Result<void>(std::unexpected(made.error()));
    if (!refusal) {
      if (!out_.refused_drawn) out_.refused_drawn = {text_of(sample), what_of(refusal.error())};
      return false;
    }
    made->is_varied = is_varied;
    out_.cases.push_back(*std::move(made));
    return true;
  }

  void also(const ops::Sample& sample) {
    for (const ops::SampleOperand& o : sample.operands) {
      int64_t count = 1;
      for (int64_t s : o.shape) count *= s;
      if (count > kMostElements) return;
    }
    made_up(sample, true);
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

  const TestedPlugin& plugin_;
  PluginCases out_;
};

}  // namespace

PluginCases draw_cases(const TestedPlugin& plugin) { return Drawing(plugin).run(); }

}  // namespace tenon::cli
