// SPDX-License-Identifier: Apache-2.0
#pragma once
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

/// What a backend is given to compile: a segment cut out of its graph (ir::cut_out); or, where it makes kernels, a whole graph with the
/// segments of all other backends in it.
struct Share {
  const ir::Graph& graph;
  std::span<const ir::Segment> others = {};
};

struct Options {
  codegen::PlanOptions planning;                 ///< but for `segments`, which the share says
  const codegen::Target* target = nullptr;       ///< whose code is generated
  const codegen::TacticBook* tactics = nullptr;  ///< what it says holds in place of default tactics; may be null
};

/// A graph planned and lowered. Segments of other backends are groups of the plan, without kernels.
struct Kernels {
  codegen::Plan plan;
  std::vector<std::vector<codegen::Kernel>> of_groups;  ///< in the order in which they run; none where a group is a step without code
};

/// A graph that a segment runs while it runs itself (runtime::InnerGraph).
struct InnerGraph {
  std::string text;                        ///< in Tenon's text form
  std::vector<ir::ConstantRef> constants;  ///< what @0, @1, ... are in it
  std::string place;                       ///< for errors
  uint32_t number = 0;                     ///< among the engine's inner graphs, once it is compiled
};

/// What the device of the same name makes a segment from.
struct Blob {
  std::string bytes;
  /// Constants that the engine keeps for it and hands to the device with the bytes. A constant that others use too is kept once.
  std::vector<ir::ConstantRef> weights;
  std::vector<InnerGraph> graphs = {};
};

using Artifact = std::variant<Kernels, Blob>;

/// What it takes to use a backend, beside running nodes, in nanoseconds.
struct Overheads {
  enum class Source : uint8_t { guessed, calibrated, measured };

  double launch = 0;        ///< to start a segment
  bool own_memory = false;  ///< values cross a border by a copy; else they are passed in place
  double copy = 0;          ///< of a value over a border, and
  double copy_per_byte = 0;
  bool own_results = false;     ///< results lie in memory of its own: those whose sizes are known before are brought to their places
  bool copies_weights = false;  ///< its segments keep constants of their own beside the engine's
  Source source = Source::guessed;
};
/// "guessed", "calibrated", "measured".
std::string_view name_of(Overheads::Source source);

/// A library that a backend runs on and Tenon does not bring.
struct Library {
  std::string file, version;
};

/// Something that can run nodes: a folder of src/backends. A graph is shared out by what each supports. Stateless, or safe between threads.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// One sentence, for people.
  virtual std::string_view docs() const = 0;
  /// The library that it runs on, opened; none: it needs none. Errors: those of runtime::Device::open.
  virtual Result<std::optional<Library>> library() const { return std::nullopt; }
  /// It may run ops that Tenon does not know: it is asked, as for any node.
  virtual bool runs_unknown_ops() const { return false; }
  /// Whether it runs the node as it stands. Errors: not_supported, saying why not; anything else makes the graph illegal.
  virtual Result<void> supports(const ir::Graph& graph, ir::NodeId node) const = 0;
  /// A guess at the time of one run of a node that it supports, in nanoseconds.
  virtual double cost(const ir::Graph& graph, ir::NodeId node) const = 0;
  /// Guesses, likewise.
  virtual Overheads overheads() const { return {}; }
  /// What must be true of a graph of which it runs a part, before the graph is shared out.
  virtual Result<void> prepare(ir::Graph& /*graph*/) const { return {}; }
  /// Its artifacts are Kernels, which weave the other backends' segments into one program; those of others are Blobs.
  virtual bool makes_kernels() const { return false; }
  /// Nodes that no backend takes that was named go to those that say so, in the order of the folders' names.
  virtual bool is_default() const { return false; }
  /// Its blobs are plugin::Saved: an engine tells beforehand which plugins it needs, and may keep their libraries.
  virtual bool runs_plugins() const { return false; }
  /// Each of its nodes is a segment of its own: joining them is of no use.
  virtual bool one_node_a_segment() const { return false; }
  /// Errors: not_supported, naming the node; what the options ask for and cannot be.
  virtual Result<Artifact> compile(const Share& share, const Options& options) const = 0;
};

/// In order of priority: a node goes to the first that supports it. Whoever made them keeps them.
using Backends = std::vector<const Backend*>;

/// `BACKEND(name) { return std::make_unique<Name>(); }` in src/backends/NAME/NAME.cpp, namespace tenon::backends; `libraries` says where
/// the library is that it needs. The folder listing is the registration.
#define BACKEND(IDENT)                                                                                  \
  std::unique_ptr<const ::tenon::backend::Backend> backend_##IDENT(const ::tenon::runtime::Libraries&); \
  std::unique_ptr<const ::tenon::backend::Backend> backend_##IDENT([[maybe_unused]] const ::tenon::runtime::Libraries& libraries)

}  // namespace tenon::backend
