// SPDX-License-Identifier: Apache-2.0
#include "plugin/added_graphs.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <optional>

#include "plugin/given_tensor.h"
#include "plugin/host.h"
#include "plugin/struct_versions.h"
#include "plugin/tensor_views.h"

namespace tenon::plugin {

namespace {

constexpr size_t kMostGraphs = 4096;  ///< of a node
constexpr uint32_t kMostConstants = 65536;

/// Collects the graphs of one call of `add_graphs`: implements the table tenon_graphs.
class GraphCollector {
 public:
  GraphCollector(uint32_t operands, ConstantOf value_of) : value_of_(value_of), operands_(operands), views_(operands) {
    entry_.table = blank<tenon_graphs>();
    entry_.collector = this;
    entry_.table.add = [](const tenon_graphs* to, const char* text, uint32_t* number) { return of(to).add(text, {}, number); };
    entry_.table.add_with = [](const tenon_graphs* to, const char* text, uint32_t count, const tenon_tensor* const* constants,
                               uint32_t* number) -> int32_t {
      if (count > 0 && !constants) return refused(fail(Code::bad_input, "add_with", "there is no list of constants"));
      if (count > kMostConstants) return refused(fail(Code::limit_exceeded, "add_with", "these are too many constants"));
      return of(to).add(text, {constants, count}, number);
    };
    entry_.table.constant = [](const tenon_graphs* from, uint32_t operand, tenon_tensor* value) -> int32_t {
      if (!value) return refused(fail(Code::bad_input, "constant", "there is no tensor to fill"));
      return of(from).constant(operand, *value);
    };
  }
  GraphCollector(const GraphCollector&) = delete;

  const tenon_graphs* table() const { return &entry_.table; }
  Result<std::vector<AddedGraph>> result() {
    if (error_) return std::move(*error_);
    return std::move(added_);
  }

 private:
  struct Entry {  // standard layout: a table is an entry
    tenon_graphs table;
    GraphCollector* collector;
  };
  static GraphCollector& of(const tenon_graphs* table) { return *reinterpret_cast<const Entry*>(table)->collector; }
  static int32_t refused(const Error& error) {
    set_failure(error.text());
    return TENON_FAILED;
  }

  int32_t add(const char* text, std::span<const tenon_tensor* const> constants, uint32_t* number) {
    if (!text) return refused(fail(Code::bad_input, "add", "there is no text"));
    if (added_.size() >= kMostGraphs) return refused(fail(Code::limit_exceeded, "add", "these are too many graphs"));
    AddedGraph graph{.text = text, .constants = {}};
    for (size_t k = 0; k < constants.size(); ++k) {
      auto tensor = constant_tensor(constants[k], fmt::format("inner graph {}, constant @{}", added_.size(), k));
      if (!tensor) return refused(tensor.error());
      graph.constants.push_back(*std::move(tensor));
    }
    if (number) *number = static_cast<uint32_t>(added_.size());
    added_.push_back(std::move(graph));
    return TENON_OK;
  }

  /// The constant as a tensor: the value of an operand where it is one, else a copy.
  Result<Tensor> constant_tensor(const tenon_tensor* given, const std::string& place) const {
    const Tensor view = TRY(given_tensor(given, place));
    for (const auto& [operand, value] : values_)
      if (value.data() == view.data() && value.dtype() == view.dtype() && value.shape() == view.shape()) return value;
    Tensor copy = TRY(Tensor::make(view.dtype(), view.shape()));
    if (view.byte_size() > 0) std::memcpy(copy.mutable_data(), view.data(), static_cast<size_t>(view.byte_size()));
    return copy;
  }

  int32_t constant(uint32_t operand, tenon_tensor& out) {
    if (operand >= operands_) return refused(fail(Code::bad_input, "constant", "the node has no such operand"));
    if (!values_.contains(operand)) {
      auto value = value_of_(operand);
      if (!value) {
        error_ = std::move(value).error();
        return refused(*error_);
      }
      if (value->empty_handle() || !value->has_bytes()) views_.clear(operand);
      else views_.set(operand, *value);
      values_.emplace(operand, *std::move(value));
    }
    const size_t known = std::min(out.struct_size, sizeof out);
    const size_t size = out.struct_size;
    std::memcpy(&out, &views_[operand], known);
    out.struct_size = size;
    return TENON_OK;
  }

  ConstantOf value_of_;
  uint32_t operands_;
  TensorViews views_;
  std::map<uint32_t, Tensor> values_;
  std::vector<AddedGraph> added_;
  std::optional<Error> error_;
  Entry entry_{};
};

}  // namespace

Result<std::vector<AddedGraph>> added_graphs(const Object& object, uint32_t operands, ConstantOf value_of) {
  const auto& add_graphs = object.op().table.add_graphs;
  if (!add_graphs) return std::vector<AddedGraph>();
  GraphCollector collector(operands, value_of);
  auto done = object.checked("add_graphs", [&] { return add_graphs(object.self(), collector.table()); });
  auto added = TRY(collector.result());
  TRY(std::move(done));
  return added;
}

}  // namespace tenon::plugin
