// SPDX-License-Identifier: Apache-2.0
/// Models as graphs: read, looked at, written again, compiled. Link `tenon::tenon`; `tenon::run` has none of it.
#pragma once
#include "tenon/tenon.h"

namespace tenon::inline v1 {

struct ReadOptions {
  std::filesystem::path external_data = {};                 ///< folder of the model's external data; empty: the model's own
  std::map<std::string, std::vector<int64_t>> shapes = {};  ///< inputs whose shape is fixed; -1: as the model says
  std::vector<std::filesystem::path> plugins = {};          ///< as CompileOptions::plugins, which compile() needs again
};

struct OnnxOptions {
  std::optional<int64_t> opset = {};  ///< none: the lowest that says every node, not below the source's
  bool external_data = false;         ///< weights of 1 KiB and more go to a file beside the model
};

/// A model as a graph of the newest ops, every value typed: immutable. Copies are the same graph, and any number of threads may use it at
/// once; readers of its nodes are serialized.
class Graph {
 public:
  /// Reads an ONNX model. Weights stay in its file, which stays mapped.
  /// Errors: what is wrong with the model, file_missing, not_supported (one error for all unknown ops).
  TENON_API static Result<Graph> from_onnx(const std::filesystem::path& model, const ReadOptions& options = {});
  /// The same of a model's bytes. keeper: keeps them, and weights are read where they lie; none: weights are copied. External data needs
  /// options.external_data.
  TENON_API static Result<Graph> from_onnx(std::span<const std::byte> model, const ReadOptions& options = {},
                                           std::shared_ptr<const void> keeper = nullptr);
  /// Reads the text form: `graph main(x: f32[batch,64]) { y = Relu(x) return y }`; types of results may be left out.
  /// plugins: as ReadOptions::plugins.
  /// Errors: bad_graph with line and column; what inference finds wrong, at its node; a library that is missing or wrong.
  TENON_API static Result<Graph> parse(std::string_view text, std::span<const std::filesystem::path> plugins = {});

  /// As an Engine's, but for what planning finds out of sizes. The one dimension "*": any shape, of a tensor too; DType::none: any type.
  TENON_API std::span<const Port> inputs() const;
  TENON_API std::span<const Port> outputs() const;
  TENON_API size_t node_count() const;  ///< those in the bodies of nodes aside

  /// The text form, a line a node. A constant of more than `elements` elements, not all the same, is printed as a digest, which parse()
  /// does not read: it needs all of them.
  TENON_API Result<std::string> text(int64_t elements = 64) const;
  /// Writes an ONNX model, and returns its opset. The file appears whole or not at all; fused ops that the opset does not have become
  /// functions of the model. Errors: not_supported (a node that the opset cannot say), write_failed.
  TENON_API Result<int64_t> save_onnx(const std::filesystem::path& path, const OnnxOptions& options = {}) const;

  struct State;
  explicit Graph(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  friend Result<Engine> compile(const Graph& graph, const CompileOptions& options);
  friend Result<std::string> partition(const Graph& graph, const CompileOptions& options, bool build);
  std::shared_ptr<State> state_;
};

/// Compiles a copy of the graph. The engine is the same, to the byte, as that of the model the graph was read from.
/// Errors: those of a model's compile(); bad_usage for options that belong to reading one (external_data, shapes, outputs), and for an
/// input whose type is not known.
TENON_API Result<Engine> compile(const Graph& graph, const CompileOptions& options = {});

}  // namespace tenon::inline v1
