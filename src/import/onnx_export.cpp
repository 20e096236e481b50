// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_export.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include "base/checked.h"
#include "files/atomic_write.h"
#include "import/check_written.h"
#include "import/export_writer.h"
#include "import/onnx_schema.h"
#include "import/proto_writer.h"
#include "ir/port_names.h"

namespace tenon::import {

using protozero::pbf_writer;

namespace {

constexpr int64_t kDefaultOpset = 17;  ///< of a graph that was never a file
constexpr int64_t kExternalAlignment = 4096;

/// First IR version whose readers support the opset (onnx.helper.VERSION_TABLE); initializers that are no inputs need 4.
int64_t ir_version_of(int64_t opset) {
  constexpr std::pair<int64_t, int64_t> table[] = {{9, 4},  {10, 5},  {11, 6},  {14, 7},  {18, 8},
                                                   {20, 9}, {22, 10}, {23, 11}, {24, 12}, {27, 13}};
  for (auto [newest, version] : table)
    if (opset <= newest) return version;
  return schema::kNewestIrVersion;
}

int64_t first_guess(const ir::Graph& graph, const ExportOptions& options) {
  if (options.opset) return *options.opset;
  for (const auto& [domain, version] : graph.opsets)
    if (domain.empty()) return std::clamp(version, schema::kOldestWrittenOpset, schema::kNewestOpset);
  return kDefaultOpset;
}

struct Lowered {
  std::unique_ptr<ir::Graph> graph;
  ExportWriter writer;
  int64_t opset;
};

std::string model_head(const Lowered& lowered) {
  std::string out;
  pbf_writer m(out);
  m.add_int64(schema::model::kIrVersion, std::max(ir_version_of(lowered.opset), int64_t{lowered.writer.overloads           ? 10
                                                                                        : lowered.writer.functions.empty() ? 4
                                                                                                                           : 8}));
  m.add_string(schema::model::kProducerName, "tenon");
  m.add_message(schema::model::kOpsetImport, opset_message("", lowered.opset));
  for (const auto& [domain, version] : lowered.writer.domains) m.add_message(schema::model::kOpsetImport, opset_message(domain, version));
  for (const std::string& function : lowered.writer.functions) m.add_message(schema::model::kFunctions, function);
  return out;
}

/// Checks the names in the model as a reader does, before a file is written.
Result<void> check_names(const Lowered& lowered) {
  std::vector<std::string_view> weights;
  for (const Weight& w : lowered.writer.weights) weights.push_back(w.name);
  const std::string& graph = lowered.writer.graph;
  return check_written(model_head(lowered) + field_head(schema::model::kGraph, graph.size()) + graph, weights);
}

/// Tries the lowest opset first; what a try finds to be needed is the next try.
Result<Lowered> lower(const ir::Graph& graph, const ExportOptions& options) {
  TRY(ir::check_port_names(graph));
  int64_t opset = first_guess(graph, options);
  if (opset < schema::kOldestWrittenOpset || opset > schema::kNewestOpset)
    return fail(Code::bad_usage, "export", "an opset that cannot be written")
        .expected(fmt::format("{} to {}", schema::kOldestWrittenOpset, schema::kNewestOpset))
        .found(std::to_string(opset));
  for (;;) {
    const TargetOpset target{opset, options.opset.has_value(), options.opset ? 0 : options.raise_to};
    Lowered out{graph.clone(), ExportWriter(target, options.value_info), opset};
    int64_t needed = TRY(lower_to_opset(*out.graph, target));
    if (needed <= opset) {
      TRY(out.writer.write(*out.graph));
      needed = out.writer.needed;
    }
    if (needed <= opset) {
      TRY(check_names(out));
      return out;
    }
    if (target.fixed)
      return fail(Code::not_supported, first_inexpressible_node(graph, target), "the opset cannot say every node of the graph")
          .expected(fmt::format("opset {} or newer", needed))
          .found(std::to_string(opset))
          .advice("leave --opset out: the lowest one that works is chosen");
    opset = needed;
  }
}

struct Placed {
  const Weight* weight;
  std::string head;     ///< TensorProto: whole where external, else all but raw_data
  int64_t offset = -1;  ///< in the data file; -1: inside the model
  int64_t raw = 0;      ///< bytes of raw_data that follow the head
  uint64_t size() const { return head.size() + (raw_field().size() + static_cast<uint64_t>(raw)) * (offset < 0 && raw > 0); }
  std::string raw_field() const { return field_head(schema::tensor::kRawData, static_cast<uint64_t>(raw)); }
};

/// The data file that is written now holds no bytes that were not read.
Result<void> check_place(const ir::Constant& constant, std::string_view location) {
  const ir::Constant::Reference* bytes = constant.unread();
  if (!bytes || location.empty() || bytes->location != location) return {};
  return fail(Code::bad_usage, "export", "the data file has the name of one that weights by reference lie in")
      .expected("another name")
      .found(std::string(location))
      .advice("give the model another name, or import it with its weights");
}

Result<std::vector<Placed>> place(const std::vector<Weight>& weights, bool external, std::string_view location) {
  std::vector<Placed> out;
  int64_t end = 0;
  for (const Weight& w : weights) {
    Placed p{.weight = &w, .head = {}};
    const int64_t bytes = w.constant->byte_size();
    TRY(check_place(*w.constant, external ? location : ""));
    if (w.constant->dtype == DType::string || w.constant->unread()) {
      p.head = TRY(tensor_message(w.name, *w.constant));
    } else if (external && bytes >= kExternalThreshold) {
      p.offset = round_up(end, kExternalAlignment);
      end = p.offset + bytes;
      p.head = external_tensor_message(w.name, *w.constant, location, p.offset);
    } else {
      p.head = tensor_head(w.name, w.constant->dtype, w.constant->shape);
      p.raw = bytes;
    }
    out.push_back(std::move(p));
  }
  return out;
}

int64_t weight_bytes(const std::vector<Weight>& weights) {
  int64_t sum = 0;
  for (const Weight& w : weights)
    if (!w.constant->unread()) sum += w.constant->byte_size();
  return sum;
}

using ByteSink = std::function<Result<void>(std::string_view)>;

/// Written, but not there yet: a model appears with its data or not at all.
Result<files::AtomicFile> written(const std::filesystem::path& path, const std::function<Result<void>(const ByteSink&)>& fill) {
  auto file = TRY(files::AtomicFile::create(path));
  TRY(fill([&](std::string_view bytes) { return file.append(bytes); }));
  return file;
}

Result<void> stream(const ir::Constant& constant, const ByteSink& sink) {
  const Tensor tensor = TRY(ir::materialise(constant));
  return sink({reinterpret_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.byte_size())});
}

Result<void> write_model(const Lowered& lowered, const std::vector<Placed>& placed, const ByteSink& sink) {
  uint64_t size = lowered.writer.graph.size();
  for (const Placed& p : placed) size += field_head(schema::graph::kInitializer, p.size()).size() + p.size();
  TRY(sink(model_head(lowered)));
  TRY(sink(field_head(schema::model::kGraph, size)));
  TRY(sink(lowered.writer.graph));
  for (const Placed& p : placed) {
    TRY(sink(field_head(schema::graph::kInitializer, p.size()) + p.head));
    if (p.offset >= 0 || p.raw == 0) continue;
    TRY(sink(p.raw_field()));
    TRY(stream(*p.weight->constant, sink));
  }
  return {};
}

Result<void> write_data(const std::vector<Placed>& placed, const ByteSink& sink) {
  int64_t end = 0;
  for (const Placed& p : placed) {
    if (p.offset < 0) continue;
    TRY(sink(std::string(static_cast<size_t>(p.offset - end), '\0')));
    TRY(stream(*p.weight->constant, sink));
    end = p.offset + p.weight->constant->byte_size();
  }
  return {};
}

}  // namespace

Result<void> export_onnx_into(const ir::Graph& graph, const std::function<char*(size_t)>& allocate, const ExportOptions& options) {
  const Lowered lowered = TRY(lower(graph, options));
  if (weight_bytes(lowered.writer.weights) > options.inline_limit)
    return fail(Code::limit_exceeded, "export", "the weights do not fit into one message")
        .expected(fmt::format("at most {} bytes", options.inline_limit))
        .advice("export to a file, with external data");
  const std::vector<Placed> placed = TRY(place(lowered.writer.weights, false, {}));
  size_t size = 0;
  TRY(write_model(lowered, placed, [&](std::string_view bytes) -> Result<void> {
    size += bytes.size();
    return {};
  }));
  char* out = allocate(size);
  if (!out) return fail(Code::out_of_memory, "export", "no memory for the model").expected(fmt::format("{} bytes", size));
  return write_model(lowered, placed, [&](std::string_view bytes) -> Result<void> {
    out = std::ranges::copy(bytes, out).out;
    return {};
  });
}

Result<std::string> export_onnx_bytes(const ir::Graph& graph, const ExportOptions& options) {
  std::string out;
  TRY(export_onnx_into(
      graph,
      [&](size_t size) {
        out.resize(size);
        return out.data();
      },
      options));
  return out;
}

Result<Exported> export_onnx(const ir::Graph& graph, const std::filesystem::path& path, const ExportOptions& options) {
  const Lowered lowered = TRY(lower(graph, options));
  const bool external = options.external_data || weight_bytes(lowered.writer.weights) > options.inline_limit;
  const std::filesystem::path data = path.string() + ".data";
  const std::vector<Placed> placed = TRY(place(lowered.writer.weights, external, data.filename().string()));
  std::optional<files::AtomicFile> data_file;
  if (external) data_file.emplace(TRY(written(data, [&](const ByteSink& sink) { return write_data(placed, sink); })));
  auto model_file = TRY(written(path, [&](const ByteSink& sink) { return write_model(lowered, placed, sink); }));
  if (data_file) TRY(data_file->commit());
  TRY(model_file.commit());
  int64_t end = 0;
  for (const Placed& p : placed)
    if (p.offset >= 0) end = std::max(end, p.offset + p.weight->constant->byte_size());
  return Exported{lowered.opset, end};
}

}  // namespace tenon::import
