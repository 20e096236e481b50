// SPDX-License-Identifier: Apache-2.0
// mine::Skeleton, y = scale * x. All of it is to be changed; further classes may stand in the last line, an op each.
//
//   c++ -std=c++17 -O2 -shared -fPIC -IINCLUDE skeleton.cpp -o skeleton.so
//   tenon plugin test ./skeleton.so
//   tenon build model.onnx --plugin ./skeleton.so -o model.tenon       where a node is of the domain "mine" and the op "Skeleton"
#include <tenon/plugin.hpp>

namespace {

using namespace tenon::ext;

/// One node. What it throws is an error that names the node; other functions that it may have stand in tenon/plugin.hpp.
class Skeleton {
 public:
  static void describe(Description& op) {
    op.name("mine", "Skeleton", "1");
    op.docs("scale * x");
    op.operand("x", {TENON_F32});
    op.result("y");
    op.field("scale", 1.0F, "what x is multiplied by");
    op.expression("Mul(x, scale)");  // what it computes, in ops of ONNX: what it is tested against
    for (const char* sample : {"f32[2,3]", "f32[0,5]; scale=2.5", "f32[]; scale=-1.0"}) op.sample(sample);
  }

  explicit Skeleton(const Node& node) : scale_(node.get<float>("scale")) {}

  /// The type of y, by that of x; sizes may be symbols.
  void infer(Inference& types) const { types.result(0) = types.operand(0); }

  void enqueue(const Call& call) const {
    const Tensor x = call.operand(0);
    const auto* const from = x.data<const float>();
    auto* const to = call.result(0).data<float>();
    call.parallel_for(x.count(), 4096, [&](int64_t begin, int64_t end, int32_t) {
      for (int64_t k = begin; k < end; ++k) to[k] = scale_ * from[k];
    });
  }

 private:
  float scale_;
};

}  // namespace

TENON_PLUGIN_LIBRARY("skeleton", "1.0", Skeleton)
