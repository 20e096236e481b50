// SPDX-License-Identifier: Apache-2.0
// Random graphs of the ops' samples in which every dimension of every input is a symbol of its own, run at sizes that agree and at
// sizes that do not: the results of the reference, or an error where it has one; never a read outside (the ASan build tells).
// Which ones: seeds.h. TENON_DUMP=DIR writes each model with its inputs and what came of them, for tools/models/compare_sizes.py, which
// asks ONNX Runtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "files/atomic_write.h"
#include "files/npz.h"
#include "helpers.h"
#include "import/onnx_export.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "seeds.h"

namespace tenon::compiler {
namespace {

using ir::ValueId;

/// An input and how to fill it.
struct Port {
  ops::SampleOperand like;
  DimList shape;
};

struct Made {
  std::unique_ptr<ir::Graph> graph;
  std::vector<Port> ports;
  std::map<std::string, int64_t> natural;  ///< the sizes that the samples have
};

bool is_plain(DType dtype) { return dtype == DType::f32 || dtype == DType::i64 || dtype == DType::boolean || dtype == DType::i32; }

class SizesGrower {
 public:
  explicit SizesGrower(uint64_t seed) : random_(seed) { made_.graph = std::make_unique<ir::Graph>(ops::table()); }

  Made grow(size_t nodes) {
    for (size_t tries = 0; nodes_ < nodes && tries < 20 * nodes; ++tries) step();
    for (ValueId v : results_) {
      if (made_.graph->value(v).uses.empty()) made_.graph->add_output(v);  // what nobody reads would not be run
    }
    return std::move(made_);
  }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  void step() {
    const auto all = ops::all_ops();
    const ops::OpDef& def = *all[pick(all.size())];
    if (!def.deterministic || def.has_effects || def.samples.size() == 0) return;
    auto sample = ops::parse_sample(def, *(def.samples.begin() + pick(def.samples.size())));
    if (!sample) return;
    for (const ops::SampleOperand& o : sample->operands)
      if (o.present && !is_plain(o.dtype)) return;
    ir::Graph& graph = *made_.graph;
    const size_t ports = made_.ports.size();
    std::vector<ValueId> operands;
    for (const ops::SampleOperand& o : sample->operands) operands.push_back(operand(o));
    const ir::NodeId node =
        graph.insert(*ops::table().find(def.domain, def.name), std::move(operands), sample->outputs, sample->attributes);
    graph.set_name(node, std::string(def.name) + std::to_string(nodes_));
    const size_t assumed = graph.assumptions.size();
    if (!ir::infer(graph, node)) return drop(node, ports, assumed);
    for (ValueId v : graph.node(node).outputs)
      if (graph.value(v).type.kind != ir::Type::Kind::tensor) return drop(node, ports, assumed);
    for (ValueId v : graph.node(node).outputs) results_.push_back(v);
    ++nodes_;
  }

  void drop(ir::NodeId node, size_t ports, size_t assumed) {
    made_.graph->erase(node);
    made_.graph->assumptions.truncate(assumed);
    while (made_.ports.size() > ports) {
      made_.graph->erase_value(made_.graph->inputs().back());
      made_.ports.pop_back();
    }
  }

  /// A constant as the sample has it, an earlier result of the same rank, or a new input.
  ValueId operand(const ops::SampleOperand& o) {
    ir::Graph& graph = *made_.graph;
    if (!o.present) return {};
    if (o.value && pick(4) != 0) return graph.add_constant(ir::constant_of(*o.value), "c" + std::to_string(names_++));
    if (!o.value && !results_.empty() && pick(3) != 0) {
      const ValueId v = results_[pick(results_.size())];
      const ir::Type& type = graph.value(v).type;
      if (type.dtype == o.dtype && type.has_rank() && type.rank() == static_cast<int>(o.shape.size()) && is_float(o.dtype)) return v;
    }
    Port port{o, {}};
    for (int64_t size : o.shape) {
      const std::string name = "n" + std::to_string(names_++);
      port.shape.push_back(graph.symbols().symbol(name));
      made_.natural[name] = size;
    }
    made_.ports.push_back(port);
    return graph.add_input("x" + std::to_string(made_.ports.size() - 1), ir::Type(o.dtype, port.shape));
  }

  std::mt19937_64 random_;
  Made made_;
  std::vector<ValueId> results_;
  size_t nodes_ = 0, names_ = 0;
};

/// Draw 0 has the samples' own sizes; 1 another one for one symbol; 2 one common size; 3 any.
std::map<std::string, int64_t> sizes_of(const Made& made, int draw, std::mt19937_64& random) {
  static constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 17};
  auto any = [&] { return kSizes[std::uniform_int_distribution<size_t>(0, std::size(kSizes) - 1)(random)]; };
  auto sizes = made.natural;
  if (draw == 1 && !sizes.empty()) {
    auto one = std::next(sizes.begin(), std::uniform_int_distribution<long>(0, static_cast<long>(sizes.size()) - 1)(random));
    one->second = any();
  }
  const int64_t common = any();
  if (draw >= 2)
    for (auto& [name, size] : sizes) size = draw == 2 ? common : any();
  return sizes;
}

std::vector<Tensor> inputs_of(const Made& made, const std::map<std::string, int64_t>& sizes, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const Port& port : made.ports) {
    Sizes shape;
    for (Dim d : port.shape) shape.push_back(sizes.at(d.node()->name));
    if (port.like.value && port.like.value->shape() == shape) inputs.push_back(*port.like.value);
    else inputs.push_back(*ops::random_tensor(port.like.dtype, shape, seed++, port.like.low, port.like.high));
  }
  return inputs;
}

struct Tally {
  int equal = 0, refused = 0, unsupported = 0, known = 0;
};

/// Where the reference refuses and the engine need not.
bool may_be_accepted(const Error& e) {
  static constexpr std::string_view kReasons[] = {
      // A computed target size that is 0 at the run would copy a size; the engine takes what was computed as a size.
      "a 0 is at an axis that the operand lacks",
  };
  return std::ranges::any_of(kReasons, [&](std::string_view reason) { return e.text().find(reason) != std::string::npos; });
}

/// DIR/SEED.onnx
void dump_model(const std::filesystem::path& folder, uint64_t seed, const ir::Graph& graph) {
  import::ExportOptions options;
  options.value_info = false;
  if (auto bytes = import::export_onnx_bytes(graph, options))
    ASSERT_TRUE(files::write_file(folder / (std::to_string(seed) + ".onnx"), *bytes));
}

/// DIR/SEED.DRAW.in.npz, and .out.npz or .error.txt.
void dump_run(const std::filesystem::path& stem, const ir::Graph& graph, const std::vector<Tensor>& inputs,
              const Result<std::span<const Tensor>>& got) {
  files::NamedTensors in, out;
  for (size_t k = 0; k < inputs.size(); ++k) in.emplace_back(graph.value(graph.inputs()[k]).name, inputs[k]);
  for (size_t k = 0; got && k < got->size(); ++k) out.emplace_back(std::to_string(k), (*got)[k]);
  ASSERT_TRUE(files::write_npz(stem.string() + ".in.npz", in));
  if (got) ASSERT_TRUE(files::write_npz(stem.string() + ".out.npz", out));
  else ASSERT_TRUE(files::write_file(stem.string() + ".error.txt", got.error().text()));
}

/// A build that fails is right only where no sizes would have run.
void check(uint64_t seed, Tally& tally) {
  SCOPED_TRACE("TENON_SEED=" + std::to_string(seed));
  const Made made = SizesGrower(seed).grow(1 + seed % 6);
  if (made.graph->outputs().empty()) return;
  const std::string text = ir::print(*made.graph);
  const int opt = seed % 2 == 0 ? 3 : 0;
  auto engine = testing::engine_of(made.graph->clone(), opt);
  if (!engine && engine.error().code() == Code::not_supported) {
    ++tally.unsupported;
    return;
  }
  const char* folder = std::getenv("TENON_DUMP");
  if (folder) dump_model(folder, seed, *made.graph);
  std::mt19937_64 random(seed);
  for (int draw = 0; draw < 4; ++draw) {
    const auto inputs = inputs_of(made, sizes_of(made, draw, random), seed);
    std::string at = "opt " + std::to_string(opt) + ", draw " + std::to_string(draw) + ":";
    for (const Tensor& t : inputs) at += " " + type_text(t.dtype(), t.shape());
    const auto want = ops::evaluate(*made.graph, inputs);
    if (!engine) {
      ASSERT_FALSE(want) << "the build fails: " << engine.error().text() << "\n" << at << "\n" << text;
      continue;
    }
    auto context = runtime::Context::create(*engine);
    const auto got = (*context)->run(inputs);
    if (folder) dump_run(std::filesystem::path(folder) / (std::to_string(seed) + "." + std::to_string(draw)), *made.graph, inputs, got);
    if (!want && want.error().code() == Code::limit_exceeded) continue;
    if (!want && got && may_be_accepted(want.error())) {
      ++tally.known;
      continue;
    }
    ASSERT_EQ(want.has_value(), got.has_value()) << at << "\nreference: " << (want ? "gives results" : want.error().text())
                                                 << "\nengine: " << (got ? "gives results" : got.error().text()) << "\n"
                                                 << text;
    if (!want) {
      EXPECT_NE(got.error().code(), Code::internal) << got.error().text() << "\n" << at << "\n" << text;
      ++tally.refused;
      continue;
    }
    for (size_t k = 0; k < want->size(); ++k)
      ASSERT_EQ(testing::difference((*want)[k], (*got)[k], 50), "") << at << ", result " << k << "\n" << text;
    ++tally.equal;
  }
}

TEST(RandomSizes, GiveWhatTheReferenceGivesOrAnError) {
  Tally tally;
  tests::each_seed(60, [&](uint64_t seed) { check(seed, tally); });
  std::printf("%d runs equal, %d refused by both, %d accepted for a known reason, %d graphs not supported yet\n", tally.equal,
              tally.refused, tally.known, tally.unsupported);
  if (tests::one_seed()) return;
  EXPECT_GT(tally.equal, 0);
  EXPECT_GT(tally.refused, 0);
}

}  // namespace
}  // namespace tenon::compiler
