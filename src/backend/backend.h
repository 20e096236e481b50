// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/cost/tactic.h"
#include "codegen/lower/kernel.h"
#include "codegen/plan/plan_options.h"
#include "ir/graph.h"
#include "ir/segment.h"
#include "runtime/libraries.h"

namespace tenon::backend {

/// The argument of Backend::compile: a segment cut out of its graph (ir::extract_segment); for the host backend, a whole graph with the
/// segments of all other backends in it.
struct CompileRequest {
  const ir::Graph& graph;
  std::span<const ir::Segment> segments = {};
};

/// Options of Backend::compile.
struct Options {
  codegen::PlanOptions planning;            ///< but for `segments`, which the request has
  const codegen::Target* target = nullptr;  ///< of the host backend's code
  /// Of the code of kernel backends, by their names, where the user chose one (`--target BACKEND=TARGET`).
  std::map<std::string, const codegen::Target*, std::less<>> targets = {};
  const codegen::TacticBook* tactics = nullptr;  ///< overrides default tactics; may be null
};

/// A graph planned and lowered. Segments of other backends are groups of the plan, without kernels.
struct Kernels {
  codegen::Plan plan;
  std::vector<std::vector<codegen::Kernel>>
      of_groups;  ///< by group: its kernels in the order in which they run; none for a step without code
};

/// A graph that a segment calls during its run (runtime::InnerGraph).
struct InnerGraph {
  std::string text;                        ///< in Tenon's text form
  std::vector<ir::ConstantRef> constants;  ///< what @0, @1, ... are in it
  std::string place;                       ///< for errors
  uint32_t number = 0;                     ///< among the engine's inner graphs, once it is compiled
};

/// What the device of the same name creates a segment from.
struct Blob {
  std::string bytes;
  /// Constants that the engine stores and passes to the device with the bytes. A constant shared with other segments is stored once.
  std::vector<ir::ConstantRef> weights;
  std::vector<InnerGraph> graphs = {};
  /// Symbols of the graph's sizes whose values the program around passes to the segment (runtime::Segment::set_sizes), by name.
  std::vector<std::string> sizes = {};
};

using Artifact = std::variant<Kernels, Blob>;

/// Costs of using a backend in addition to running nodes.
struct Overheads {
  enum class Source : uint8_t { guessed, calibrated, measured };

  double launch_ns = 0;     ///< to start a segment
  bool own_memory = false;  ///< values are copied at segment boundaries; else they are passed in place
  double copy_ns = 0;       ///< to copy a value at a segment boundary, plus copy_ns_per_byte
  double copy_ns_per_byte = 0;
  bool own_results = false;     ///< results are in memory of the backend, and are copied to their places
  bool copies_weights = false;  ///< its segments hold copies of constants in addition to those of the engine
  Source source = Source::guessed;
};
/// "guessed", "calibrated", "measured".
std::string_view name_of(Overheads::Source source);

/// An external library that a backend needs.
struct Library {
  std::string file, version;
};

/// Something that can run nodes: a folder of src/backends. A graph is partitioned by what each supports. Stateless, or safe between
/// threads.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// One sentence, for people.
  virtual std::string_view docs() const = 0;
  /// The library that it runs on, opened; none: it needs none. Errors: those of runtime::Device::open.
  virtual Result<std::optional<Library>> library() const { return std::nullopt; }
  /// Whether supports() is also called for nodes of unknown ops.
  virtual bool runs_unknown_ops() const { return false; }
  /// Whether it runs the node unchanged. Errors: not_supported with the reason; any other error means an illegal graph.
  virtual Result<void> supports(const ir::Graph& graph, ir::NodeId node) const = 0;
  /// Estimated time of one run of a supported node, in nanoseconds.
  virtual double cost(const ir::Graph& graph, ir::NodeId node) const = 0;
  /// Estimated costs in addition to those of nodes.
  virtual Overheads overheads() const { return {}; }
  /// Prepares a graph, of which this backend may run a part, before the graph is partitioned.
  virtual Result<void> prepare(ir::Graph& /*graph*/) const { return {}; }
  /// The host backend, of which a build has exactly one: it plans whole graphs and links the segments of all others, and runs size
  /// computations, control flow and guards. Its artifacts are Kernels; those of all others are Blobs.
  virtual bool is_host() const { return false; }
  /// A kernel backend: plans, lowers and links its segments itself and generates their code for this target, where the user names no other
  /// (program::compile_segment). Null: it generates none.
  virtual const codegen::Target* kernel_target() const { return nullptr; }
  /// Runs nodes that no listed backend supports; several such backends are tried in the order of their folder names.
  virtual bool is_default() const { return false; }
  /// Its blobs are plugin::Saved: the engine lists the plugins that it needs, and may embed their libraries.
  virtual bool runs_plugins() const { return false; }
  /// Each of its nodes is a segment of its own: joining them saves nothing.
  virtual bool one_node_a_segment() const { return false; }
  /// Errors: not_supported, naming the node; bad_usage for options that cannot hold.
  virtual Result<Artifact> compile(const CompileRequest& request, const Options& options) const = 0;
};

/// In order of priority: a node goes to the first that supports it. The caller owns them.
using Backends = std::vector<const Backend*>;

/// The host backend, which is among them.
const Backend& host_of(const Backends& backends);
/// Plans and lowers a graph with the segments of others in it, without generating code: what the host backend does with a whole graph, and
/// a kernel backend with a segment. Kernels are for `target`. Errors: not_supported, naming the node.
Result<Kernels> make_kernels(const CompileRequest& request, const Options& options, const codegen::Target& target);

/// `BACKEND(name) { return std::make_unique<Name>(); }` in src/backends/NAME/NAME.cpp, namespace tenon::backends; `libraries` says where
/// the library is that it needs. The folder listing is the registration.
#define BACKEND(IDENT)                                                                                  \
  std::unique_ptr<const ::tenon::backend::Backend> backend_##IDENT(const ::tenon::runtime::Libraries&); \
  std::unique_ptr<const ::tenon::backend::Backend> backend_##IDENT([[maybe_unused]] const ::tenon::runtime::Libraries& libraries)

}  // namespace tenon::backend
