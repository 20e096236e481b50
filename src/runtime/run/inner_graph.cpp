// SPDX-License-Identifier: Apache-2.0
#include "runtime/inner_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/container_value.h"
#include "runtime/input_checks.h"
#include "runtime/run/frame.h"

namespace tenon::runtime {

namespace {

std::string type_of(const PortInfo& port) {
  return is_container(port) ? text_of(port.container, port.dtype)
                            : fmt::format("{}[{}]", name_of(port.dtype), fmt::join(port.dimensions, ","));
}

Error wrong_result(const PortInfo& port, const Tensor& result, std::string what, std::string expected) {
  return fail(Code::bad_input, port_place("result", port), std::move(what))
      .expected(std::move(expected))
      .found(type_text(result))
      .advice("results of an inner graph go where the caller says, in the sizes that the graph gives");
}

}  // namespace

InnerGraph::InnerGraph(const Engine& engine, uint32_t number)
    : program_(&engine.programs()[number]), frame_(std::make_unique<Frame>(engine, *program_, false)) {}
InnerGraph::~InnerGraph() = default;
InnerGraph::InnerGraph(InnerGraph&&) noexcept = default;

bool InnerGraph::is_checked(std::span<const Tensor> operands, std::span<const Tensor> results) const {
  return std::ranges::equal(results, program_->outputs, {}, &Tensor::dtype, &PortInfo::dtype) &&
         std::ranges::equal(results, result_sizes_, {}, &Tensor::shape) && std::ranges::equal(operands, operand_sizes_, {}, &Tensor::shape);
}

/// Of those that follow from the inputs, the sizes too; the others' are compared once they are known.
Result<void> InnerGraph::check_results(std::span<const Tensor> operands, std::span<const Tensor> results) {
  if (results.size() != program_->outputs.size())
    return fail(Code::bad_input, "run", "wrong number of results")
        .expected(std::to_string(program_->outputs.size()))
        .found(std::to_string(results.size()));
  TRY(check_types(*program_, operands));
  std::vector<int64_t> sizes(program_->sizes.size());
  std::vector<Sizes> shapes;
  for (const Tensor& t : operands) shapes.push_back(t.shape());
  TRY(evaluate_sizes(*program_, 0, program_->input_lines, {shapes, {}}, sizes));
  TRY(check_shapes(*program_, operands, sizes));
  for (size_t k = 0; k < results.size(); ++k) {
    const PortInfo& port = program_->outputs[k];
    const Tensor& t = results[k];
    if (is_container(port) || bits_of(port.dtype) == 0)
      return fail(Code::not_supported, port_place("result", port),
                  "not supported yet: results of inner graphs that are no tensors of numbers")
          .expected("a tensor of numbers")
          .found(type_of(port));
    if (t.dtype() != port.dtype) return wrong_result(port, t, "wrong dtype", type_of(port));
    if (t.shape().size() != port.shape.size()) return wrong_result(port, t, "wrong rank", type_of(port));
    if (std::ranges::any_of(port.shape, [&](Slot s) { return s >= program_->input_lines; })) continue;
    Sizes expected;
    for (Slot s : port.shape) expected.push_back(sizes[s]);
    if (t.shape() != expected) return wrong_result(port, t, "wrong sizes", type_text(port.dtype, expected));
  }
  result_sizes_.clear();
  operand_sizes_ = std::move(shapes);
  for (const Tensor& t : results) result_sizes_.push_back(t.shape());
  return {};
}

Result<void> InnerGraph::run(std::span<const Tensor> operands, std::span<const Tensor> results, const RunOptions& options) {
  if (!is_checked(operands, results)) TRY(check_results(operands, results));
  for (size_t k = 0; k < results.size(); ++k)
    frame_->bind(k, const_cast<std::byte*>(results[k].data()), static_cast<size_t>(results[k].byte_size()));
  const auto given = TRY(frame_->run(operands, {}, options));
  for (size_t k = 0; k < results.size(); ++k)
    if (given[k].shape() != results[k].shape())
      return wrong_result(program_->outputs[k], results[k], "wrong sizes", type_text(given[k].dtype(), given[k].shape()));
  return {};
}

}  // namespace tenon::runtime
