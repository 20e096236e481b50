// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>

#include "ir/graph.h"

namespace tenon::ir::fake {

struct FakeOp : Op {
  using Infer = Result<void> (*)(NodeView&);
  Infer run = nullptr;
  Result<void> infer(NodeView& view) const override { return run(view); }
  std::vector<Type> body_input_types(const NodeView& view, size_t) const override {
    if (name != "Repeat" || !view.has(1)) return {};
    return {view.type(1)};
  }
};

inline Result<void> like_first(NodeView& v) {
  for (Type& t : v.outputs) t = v.has(0) ? v.type(0) : Type();
  return {};
}
inline Result<void> add(NodeView& v) {
  if (v.type(0).dtype != v.type(1).dtype) {
    return fail(Code::dtype_mismatch, "", "Add: operands differ in dtype").expected(v.type(0).text()).found(v.type(1).text());
  }
  v.outputs[0] = v.type(0);
  auto a = v.dims(0), b = v.dims(1);
  if (a && b && a->size() == b->size()) {
    for (size_t i = 0; i < a->size(); ++i) v.output_data[0].push_back((*a)[i] + (*b)[i]);
  }
  return {};
}
inline Result<void> shape(NodeView& v) {
  if (!v.type(0).has_rank()) return v.outputs[0] = Type(DType::i64), Result<void>{};
  v.outputs[0] = Type(DType::i64, {v.rank(0)});
  v.output_data[0] = *v.type(0).shape;
  return {};
}
inline Result<void> reshape(NodeView& v) {
  v.outputs[0] = Type(v.type(0).dtype);
  if (auto dims = v.dims(1)) v.outputs[0] = Type(v.type(0).dtype, *dims);
  return {};
}
inline Result<void> non_zero(NodeView& v) {
  v.outputs[0] = Type(DType::i64, {v.type(0).has_rank() ? v.rank(0) : 1, v.symbols->fresh()});
  return {};
}
inline Result<void> split(NodeView& v) {
  for (Type& t : v.outputs) {
    t = v.type(0);
    if (t.shape && !t.shape->empty()) (*t.shape)[0] = floor_div((*t.shape)[0], Dim(static_cast<int64_t>(v.outputs.size())));
  }
  return {};
}
inline Result<void> from_body(NodeView& v) {
  if (v.bodies.empty()) return fail(Code::bad_graph, "", "a body is missing");
  const Graph& body = *v.bodies[0];
  for (size_t k = 0; k < v.outputs.size() && k < body.outputs().size(); ++k) v.outputs[k] = body.value(body.outputs()[k]).type;
  return {};
}

/// Ops that are enough to exercise a graph, with the signatures of their ONNX namesakes.
class Table : public OpTable {
 public:
  Table() {
    put("", "Add", 2, 2, 1, 1, add).commutative = true;
    put("", "Relu", 1, 1, 1, 1, like_first);
    put("", "Clip", 1, 3, 1, 1, like_first);
    put("", "Gemm", 2, 3, 1, 1, like_first);
    put("", "Shape", 1, 1, 1, 1, shape);
    put("", "Reshape", 2, 2, 1, 1, reshape);
    put("", "NonZero", 1, 1, 1, 1, non_zero);
    put("", "Split", 1, 1, 1, -1, split);
    put("", "Sum", 1, -1, 1, 1, like_first);
    put("", "Dropout", 1, 3, 1, 2, like_first);
    put("", "Print", 1, 1, 0, 0, like_first).has_effects = true;
    put("", "If", 1, 1, 1, -1, from_body);
    put("", "Repeat", 2, 2, 1, -1, from_body);
    put("com.example", "Split2", 1, 1, 2, 2, split);
  }
  const Op* find(std::string_view domain, std::string_view name) const override {
    auto at = ops_.find(std::string(domain) + "::" + std::string(name));
    return at == ops_.end() ? nullptr : at->second.get();
  }
  const Op& operator[](std::string_view name) const { return *find("", name); }

 private:
  FakeOp& put(std::string domain, std::string name, int min_in, int max_in, int min_out, int max_out, FakeOp::Infer run) {
    auto op = std::make_unique<FakeOp>();
    op->domain = domain;
    op->name = name;
    op->min_inputs = min_in;
    op->max_inputs = max_in;
    op->min_outputs = min_out;
    op->max_outputs = max_out;
    op->run = run;
    return *(ops_[domain + "::" + name] = std::move(op));
  }
  std::map<std::string, std::unique_ptr<FakeOp>> ops_;
};

}  // namespace tenon::ir::fake
