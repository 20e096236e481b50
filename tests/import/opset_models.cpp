// SPDX-License-Identifier: Apache-2.0
// opset_models OUT SHARE SEED [FILTER]: samples of ops as models of one node, in the element types that any version of the op's schema
// allows, at each opset that can be written, for tools/check/opset_sweep.py. SHARE: of all these files, in thousandths. FILTER: only ops
// whose names contain it. A case gives
//   bytes in OUT/models    what export wrote at each opset; and the values: inputs in0, in1, ... and, by the reference, outputs out0, ...
//                          as initializers of a model
//   a line of cases.jsonl  {"case": K, "op", "domain", "sample", "type", "random", "written": [[opset, begin, size], ...],
//                          "values": [begin, size] or null, "refused": [[opset, why], ...]}
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include <fmt/format.h>

#include "base/checked.h"
#include "base/hash.h"
#include "import/onnx_export.h"
#include "import/onnx_schema.h"
#include "ops/core/sample.h"
#include "ops/reference/elements.h"
#include "ops/reference/evaluate.h"
#include "ops/versions/onnx_schema.h"

namespace tenon::import {
namespace {

using ops::OnnxParameter;
using ops::OnnxSchema;

Tensor texts_of(const Sizes& shape) {
  std::vector<std::string> items;
  for (int64_t k = 0; k < *checked_count(shape); ++k) items.push_back(fmt::format("text {}", k % 3));
  return Tensor::of_strings(shape, std::move(items));
}

/// The sample with the element type `dtype` in all operands of the schema's type variable. nullopt: all have that type already, or it
/// cannot represent their values.
std::optional<ops::Sample> with_type(const OnnxSchema& schema, ops::Sample sample, std::string_view variable, DType dtype) {
  bool changed = false;
  for (size_t k = 0; k < sample.operands.size() && !schema.inputs.empty(); ++k) {
    ops::SampleOperand& operand = sample.operands[k];
    if (!operand.present || operand.dtype == dtype || schema.inputs[std::min(k, schema.inputs.size() - 1)].variable != variable) continue;
    changed = true;
    operand.dtype = dtype;
    if (dtype == DType::string) {
      operand.value = texts_of(operand.shape);
    } else if (operand.value) {
      auto value = ops::converted(*operand.value, dtype);
      if (!value) return std::nullopt;
      operand.value = *std::move(value);
    }
  }
  return changed ? std::optional(std::move(sample)) : std::nullopt;
}

/// The attribute by which a result gets an element type of its own; empty: there is none.
std::string_view type_attribute(const OnnxSchema& schema) {
  for (const ops::OnnxAttributeSchema& attribute : schema.attributes)
    for (std::string_view name : {"to", "dtype", "output_dtype", "output_datatype", "softmax_precision", "stash_type"})
      if (attribute.name == name && attribute.kind == "int") return attribute.name;
  return {};
}

class Sweep {
 public:
  Sweep(const std::filesystem::path& out, uint64_t share, uint64_t seed)
      : share_(share), seed_(seed), list_(out / "cases.jsonl"), models_(out / "models", std::ios::binary) {}

  Result<void> op(const ops::OpDef& def) {
    def_ = &def;
    const std::span<const OnnxSchema> schemas = ops::onnx_schemas(def.domain, def.name);
    if (schemas.empty()) return {};
    const OnnxSchema& newest = schemas.back().deprecated ? schemas[schemas.size() - 2] : schemas.back();
    for (std::string_view text : def.samples) {
      const ops::Sample sample = TRY(ops::parse_sample(def, text));
      TRY(one(text, sample, "its own"));
      TRY(operand_types(newest, text, sample));
      TRY(attribute_types(newest, text, sample));
    }
    return {};
  }
  int cases() const { return cases_; }
  bool good() const { return list_.good() && models_.good(); }

 private:
  /// Adds the sample with each type variable in each of its types in the newest version, which include those of older versions.
  Result<void> operand_types(const OnnxSchema& schema, std::string_view text, const ops::Sample& sample) {
    std::set<std::string_view> seen;
    for (const OnnxParameter& parameter : schema.inputs) {
      if (parameter.variable.empty() || !seen.insert(parameter.variable).second) continue;
      for (int number = 1; number < kDTypeCount; ++number) {
        const auto dtype = static_cast<DType>(number);
        if (!parameter.types.contains(ir::Type(dtype))) continue;
        if (const auto changed = with_type(schema, sample, parameter.variable, dtype))
          TRY(one(text, *changed, fmt::format("{} = {}", parameter.variable, name_of(dtype))));
      }
    }
    return {};
  }

  Result<void> attribute_types(const OnnxSchema& schema, std::string_view text, ops::Sample sample) {
    const std::string_view name = type_attribute(schema);
    for (int number = 1; number < kDTypeCount && !name.empty() && !schema.outputs.empty(); ++number) {
      const auto dtype = static_cast<DType>(number);
      if (!schema.outputs[0].types.contains(ir::Type(dtype))) continue;
      sample.attributes.set(std::string(name), int64_t{number});  // ONNX's number of the type
      TRY(one(text, sample, fmt::format("{} = {}", name, name_of(dtype))));
    }
    return {};
  }

  /// Each file is drawn on its own, so that an op that is added changes no other's.
  std::vector<int64_t> drawn_opsets(std::string_view text, std::string_view type) const {
    std::vector<int64_t> out;
    for (int64_t opset = schema::kOldestWrittenOpset; opset <= schema::kNewestOpset; ++opset)
      if (hash128(fmt::format("{}|{}|{}|{}|{}|{}", seed_, def_->domain, def_->name, text, type, opset)).low % 1000 < share_)
        out.push_back(opset);
    return out;
  }

  Result<void> one(std::string_view text, const ops::Sample& sample, const std::string& type) {
    const std::vector<int64_t> opsets = drawn_opsets(text, type);
    if (opsets.empty()) return {};
    const auto made = ops::build_sample(*def_, sample, 5);
    if (!made) return {};  // Tenon's op lacks the case
    made->graph->set_name(made->node, "sample");
    nlohmann::json written = nlohmann::json::array(), refused = nlohmann::json::array();
    for (const int64_t opset : opsets) {
      ExportOptions options;
      options.opset = opset;
      const auto bytes = export_onnx_bytes(*made->graph, options);
      if (bytes) written.push_back({opset, end_, bytes->size()});
      else if (bytes.error().code() != Code::internal) refused.push_back({opset, bytes.error().text()});
      else return fail(Code::internal, fmt::format("{} ({}; {}) at opset {}", def_->name, text, type, opset), bytes.error().text());
      if (bytes) append(*bytes);
    }
    const std::string values = values_of(*made);
    list_ << nlohmann::json{{"case", cases_++},       {"op", def_->name},
                            {"domain", def_->domain}, {"sample", text},
                            {"type", type},           {"random", !def_->deterministic},
                            {"written", written},     {"values", values.empty() ? nlohmann::json() : nlohmann::json{end_, values.size()}},
                            {"refused", refused}}
          << "\n";
    append(values);
    return {};
  }

  void append(std::string_view bytes) {
    models_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    end_ += bytes.size();
  }

  /// Empty where the reference does not compute the case, or initializers cannot hold a value.
  static std::string values_of(const ops::SampleCase& made) {
    const auto outputs = ops::evaluate(*made.graph, made.inputs);
    if (!outputs) return {};
    ir::Graph values(ops::table());
    const auto add = [&](const Tensor& tensor, std::string name) {
      if (tensor.dtype() == DType::sequence || tensor.dtype() == DType::optional || tensor.dtype() == DType::map) return false;
      values.add_output(values.add_constant(ir::constant_of(tensor), name), name);
      return true;
    };
    for (size_t k = 0; k < made.inputs.size(); ++k)
      if (!add(made.inputs[k], fmt::format("in{}", k))) return {};
    for (size_t k = 0; k < outputs->size(); ++k)
      if (!add((*outputs)[k], fmt::format("out{}", k))) return {};
    ExportOptions newest;
    newest.opset = schema::kNewestOpset;
    return export_onnx_bytes(values, newest).value_or("");
  }

  const uint64_t share_, seed_;
  std::ofstream list_, models_;
  uint64_t end_ = 0;  ///< bytes in models_
  const ops::OpDef* def_ = nullptr;
  int cases_ = 0;
};

int run(const std::filesystem::path& out, uint64_t share, uint64_t seed, std::string_view filter) {
  std::filesystem::create_directories(out);
  Sweep sweep(out, share, seed);
  for (const ops::OpDef* def : ops::all_ops()) {
    if (!def->name.contains(filter)) continue;
    if (const auto done = sweep.op(*def); !done) {
      std::fprintf(stderr, "%s\n", done.error().text().c_str());
      return 1;
    }
  }
  return !sweep.good() || sweep.cases() == 0;
}

}  // namespace
}  // namespace tenon::import

int main(int count, char** words) {
  if (count < 4) {
    std::fputs("usage: opset_models OUT SHARE SEED [FILTER]\n", stderr);
    return 2;
  }
  const auto number = [&](int k) { return std::strtoull(words[k], nullptr, 10); };
  return tenon::import::run(words[1], number(2), number(3), count > 4 ? words[4] : "");
}
