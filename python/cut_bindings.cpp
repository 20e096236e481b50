// SPDX-License-Identifier: Apache-2.0
// The partitioner for graphs of others (tenon.torch): nodes that Tenon may run, and what must come after what.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "handles.h"
#include "partition/by_cost.h"

namespace tenon::python {

namespace {

constexpr uint16_t kOurs = 0, kTheirs = 1;

struct CutNode {
  bool ours = false, counts = true, pinned = false;
  std::string name;
  std::vector<uint32_t> needs;
  double our_ns = 0, their_ns = 0;
};

/// A tensor: who makes it (none: an input), who reads it, whether it is a result.
struct CutValue {
  std::optional<uint32_t> maker;
  std::vector<uint32_t> readers;
  bool returned = false;
  double bytes = 0;
};

struct CutResult {
  std::vector<uint32_t> place;  ///< of each node: its segment
  std::vector<bool> ours;       ///< of each segment, in the order of running
  uint32_t lower_bound = 0;
  std::vector<uint32_t> too_small, does_not_pay;
};

[[noreturn]] void refuse(std::string what, size_t found) {
  raise(fail(Code::bad_usage, "cut", std::move(what)).found(std::to_string(found)));
}

partition::Problem problem_of(const std::vector<CutNode>& nodes) {
  partition::Problem out(2, kTheirs);
  for (const CutNode& n : nodes) {
    for (uint32_t needed : n.needs)
      if (needed >= out.size()) refuse("a node needs one that does not come before it", needed);
    out.add({.target = n.ours ? kOurs : kTheirs,
             .fallback_target = kTheirs,
             .work_nodes = n.counts,
             .pinned = n.pinned,
             .has_bodies = false,
             .key = std::hash<std::string>()(n.name)},
            n.needs);
  }
  return out;
}

partition::Costs costs_of(const std::vector<CutNode>& nodes, const std::vector<CutValue>& values, double launch_ns,
                          const partition::Costs::Link& border) {
  partition::Costs out(2, nodes.size());
  for (uint32_t n = 0; n < nodes.size(); ++n) {
    out.run(n, kTheirs) = nodes[n].their_ns;
    if (nodes[n].ours) out.run(n, kOurs) = nodes[n].our_ns;
  }
  for (const CutValue& v : values) {
    if (v.maker && *v.maker >= nodes.size()) refuse("a value is made by no node", *v.maker);
    for (uint32_t r : v.readers)
      if (r >= nodes.size()) refuse("a value is read by no node", r);
    out.values.push_back({v.maker.value_or(partition::Costs::kGraphInput), v.readers, v.returned, v.bytes});
  }
  out.launch(kOurs) = launch_ns;
  out.link(kOurs, kTheirs) = out.link(kTheirs, kOurs) = border;
  return out;
}

CutResult cut(const std::vector<CutNode>& nodes, const std::vector<CutValue>& values, std::optional<uint32_t> min_block_size,
              double launch_ns, double border_ns, double border_ns_per_byte) {
  if (min_block_size == 0U) refuse("a segment has at least one node", 0);
  partition::Problem problem = problem_of(nodes);
  const backend::Backends nobody(2);
  const partition::Costs costs = costs_of(nodes, values, launch_ns, {border_ns, border_ns_per_byte});
  const auto decided = unwrap(partition::solve_cut(problem, partition::Roles(nobody, 2), {.min_block_size = min_block_size.value_or(0)},
                                                   min_block_size ? nullptr : &costs));
  CutResult out{.place = decided.sized.cut.segment_of,
                .ours = {},
                .lower_bound = decided.lower_bound,
                .too_small = decided.sized.dropped,
                .does_not_pay = decided.unprofitable_units};
  for (uint16_t target : decided.sized.cut.targets) out.ours.push_back(target == kOurs);
  return out;
}

}  // namespace

void bind_cut(nb::module_& m) {
  nb::class_<CutNode>(m, "CutNode")
      .def(nb::new_([](std::string name, std::vector<uint32_t> needs, bool ours, bool counts, bool pinned, double our_ns, double their_ns) {
             return CutNode{ours, counts, pinned, std::move(name), std::move(needs), our_ns, their_ns};
           }),
           nb::arg("name"), nb::arg("needs"), nb::kw_only(), nb::arg("ours"), nb::arg("counts") = true, nb::arg("pinned") = false,
           nb::arg("our_ns") = 0.0, nb::arg("their_ns") = 0.0);
  nb::class_<CutValue>(m, "CutValue")
      .def(nb::new_([](std::optional<uint32_t> maker, std::vector<uint32_t> readers, bool returned, double bytes) {
             return CutValue{maker, std::move(readers), returned, bytes};
           }),
           nb::arg("maker").none(), nb::arg("readers"), nb::arg("returned") = false, nb::arg("bytes") = 0.0);
  nb::class_<CutResult>(m, "CutResult")
      .def_ro("place", &CutResult::place)
      .def_ro("ours", &CutResult::ours)
      .def_ro("lower_bound", &CutResult::lower_bound)
      .def_ro("too_small", &CutResult::too_small)
      .def_ro("does_not_pay", &CutResult::does_not_pay);
  m.def("cut", &cut, nb::arg("nodes"), nb::arg("values") = std::vector<CutValue>(), nb::kw_only(), nb::arg("min_block_size") = nb::none(),
        nb::arg("launch_ns") = 0.0, nb::arg("border_ns") = 0.0, nb::arg("border_ns_per_byte") = 0.0);
}

}  // namespace tenon::python
