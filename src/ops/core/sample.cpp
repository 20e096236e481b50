// SPDX-License-Identifier: Apache-2.0
#include "ops/core/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ops/core/schema.h"

namespace tenon::ops {

namespace {

/// Parts between commas outside of brackets.
std::vector<std::string_view> split(std::string_view s) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= s.size(); ++i) {
    if (i < s.size() && s[i] == '[') ++depth;
    if (i < s.size() && s[i] == ']') --depth;
    if (i == s.size() || (s[i] == ',' && depth == 0)) {
      if (!trimmed(s.substr(begin, i - begin)).empty()) out.push_back(trimmed(s.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return out;
}

std::string_view inside(std::string_view s) {
  s = trimmed(s);
  return s.size() >= 2 && s.front() == '[' ? s.substr(1, s.size() - 2) : s;
}

Error bad(std::string_view part) { return fail(Code::bad_graph, "sample", "cannot read '" + std::string(part) + "'"); }

Result<double> number(std::string_view s) {
  s = trimmed(s);
  if (s == "true") return 1;
  if (s == "false") return 0;
  const std::string text(s);
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end) return bad(s);
  return v;
}

/// Whole numbers beyond 2^53 keep all their bits.
Result<void> set_element(Tensor& t, int64_t i, std::string_view s) {
  const double v = TRY(number(s));
  if (is_float(t.dtype())) {
    t.set_number(i, v);
  } else {
    const std::string text(trimmed(s));
    t.set_integer(i, text == "true" || text == "false" ? static_cast<int64_t>(v)
                     : t.dtype() == DType::u64         ? static_cast<int64_t>(std::strtoull(text.c_str(), nullptr, 10))
                                                       : std::strtoll(text.c_str(), nullptr, 10));
  }
  return {};
}

Result<Tensor> tensor_of(DType dtype, const Sizes& shape, std::string_view values) {
  Tensor t = TRY(Tensor::make(dtype, shape));
  const bool list = values.starts_with('[');
  const auto parts = list ? split(inside(values)) : std::vector<std::string_view>{values};
  if (list && static_cast<int64_t>(parts.size()) != t.count()) return bad(values);
  for (int64_t i = 0; i < t.count(); ++i) TRY(set_element(t, i, list ? parts[static_cast<size_t>(i)] : values));
  return t;
}

Result<SampleOperand> parse_operand(std::string_view part) {
  SampleOperand o;
  if (part == "_") {
    o.present = false;
    return o;
  }
  const size_t open = part.find('['), close = part.find(']');
  if (open == part.npos || close == part.npos) return bad(part);
  const auto dtype = dtype_named(trimmed(part.substr(0, open)));
  if (!dtype) return bad(part);
  o.dtype = *dtype;
  for (std::string_view s : split(part.substr(open + 1, close - open - 1))) o.shape.push_back(static_cast<int64_t>(TRY(number(s))));
  if (!is_float(o.dtype)) o.low = is_signed(o.dtype) ? -10 : 0, o.high = 10;
  const std::string_view rest = trimmed(part.substr(close + 1));
  if (rest.starts_with("in ")) {
    const size_t dots = rest.find("..");
    if (dots == rest.npos) return bad(part);
    o.low = TRY(number(rest.substr(3, dots - 3)));
    o.high = TRY(number(rest.substr(dots + 2)));
  } else if (rest.starts_with('=')) {
    o.value = TRY(tensor_of(o.dtype, o.shape, trimmed(rest.substr(1))));
  } else if (!rest.empty()) {
    return bad(part);
  }
  return o;
}

Result<ir::Attribute> parse_attribute(AttributeSpec::Kind kind, std::string_view value) {
  using Kind = AttributeSpec::Kind;
  const auto parts = split(inside(value));
  switch (kind) {
    case Kind::integer: return ir::Attribute(static_cast<int64_t>(TRY(number(value))));
    case Kind::number: return ir::Attribute(static_cast<float>(TRY(number(value))));
    case Kind::type:
    case Kind::text: return ir::Attribute(std::string(inside(value)));  // brackets keep a comma
    case Kind::ints: {
      ir::Ints out;
      for (std::string_view p : parts) out.push_back(static_cast<int64_t>(TRY(number(p))));
      return ir::Attribute(out);
    }
    case Kind::floats: {
      ir::Floats out;
      for (std::string_view p : parts) out.push_back(static_cast<float>(TRY(number(p))));
      return ir::Attribute(out);
    }
    case Kind::strings: {
      ir::Strings out;
      for (std::string_view p : parts) out.emplace_back(p);
      return ir::Attribute(out);
    }
    case Kind::tensor: {
      SampleOperand o = TRY(parse_operand(value));
      if (!o.value) return bad(value);
      return ir::Attribute(*o.value);
    }
    case Kind::graph: break;
  }
  return bad(value);
}

uint64_t next_random(uint64_t& state) {  // splitmix64, after Steele, Lea and Flood 2014
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Result<Sample> parse_sample(const OpDef& def, std::string_view text) {
  Sample sample;
  const size_t semicolon = text.find(';');
  for (std::string_view part : split(text.substr(0, semicolon))) sample.operands.push_back(TRY(parse_operand(part)));
  if (semicolon == text.npos) return sample;
  const auto specs = attribute_specs(def);
  for (std::string_view part : split(text.substr(semicolon + 1))) {
    const size_t equals = part.find('=');
    if (equals == part.npos) return bad(part);
    const std::string_view name = trimmed(part.substr(0, equals)), value = trimmed(part.substr(equals + 1));
    if (name == "outputs") {
      sample.outputs = static_cast<size_t>(TRY(number(value)));
      continue;
    }
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const AttributeSpec& s) { return s.name == name; });
    if (spec == specs.end()) return fail(Code::bad_attribute, "sample", "no attribute '" + std::string(name) + "'");
    sample.attributes.set(std::string(name), TRY(parse_attribute(spec->kind, value)));
  }
  return sample;
}

Result<Tensor> random_tensor(DType dtype, Sizes shape, uint64_t seed, double low, double high) {
  Tensor t = TRY(Tensor::make(dtype, std::move(shape)));
  uint64_t state = seed;
  for (int64_t i = 0; i < t.count(); ++i) {
    const double unit = static_cast<double>(next_random(state) >> 11) * 0x1p-53;
    if (is_float(dtype)) t.set_number(i, low + unit * (high - low));
    else if (dtype == DType::boolean) t.set_integer(i, unit < 0.5);
    else t.set_integer(i, static_cast<int64_t>(std::floor(std::max(low, is_signed(dtype) ? low : 0.0) + unit * (high + 1 - low))));
  }
  return t;
}

Result<SampleCase> build_sample(const OpDef& def, const Sample& sample, uint64_t seed, bool symbolic, bool constants,
                                const ir::OpTable& ops) {
  SampleCase made;
  made.graph = std::make_unique<ir::Graph>(ops);
  std::vector<ir::ValueId> ids;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    const SampleOperand& o = sample.operands[i];
    if (!o.present) {
      ids.emplace_back();
      made.operands.emplace_back();
      continue;
    }
    Tensor t = o.value ? *o.value : TRY(random_tensor(o.dtype, o.shape, seed * 131 + i, o.low, o.high));
    made.operands.push_back(t);
    if (o.value && constants) {
      ids.push_back(made.graph->add_constant(ir::constant_of(std::move(t))));
      continue;
    }
    DimList shape;
    for (int64_t s : o.shape) shape.push_back(symbolic && s > 1 ? made.graph->symbols().symbol("n" + std::to_string(s)) : Dim(s));
    ids.push_back(made.graph->add_input("x" + std::to_string(i), ir::Type(o.dtype, std::move(shape))));
    made.inputs.push_back(std::move(t));
  }
  const ir::Op* op = ops.find(def.domain, def.name);
  TENON_ASSERT(op != nullptr);
  made.node = made.graph->insert(*op, std::move(ids), sample.outputs, sample.attributes);
  TRY(ir::infer(*made.graph, made.node));
  for (ir::ValueId v : made.graph->node(made.node).outputs) made.graph->add_output(v);
  return made;
}

}  // namespace tenon::ops
