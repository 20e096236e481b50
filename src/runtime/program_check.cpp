// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_check.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>

#include "base/checked.h"

namespace tenon::runtime {

namespace {

class Checker {
 public:
  Checker(const Program& p, const ProgramTable& table) : p_(p), table_(table) {}

  bool sound() const {
    if (p_.input_lines > p_.sizes.size()) return false;
    for (uint32_t k = 0; k < p_.sizes.size(); ++k)
      if (!line_sound(k)) return false;
    auto all = [&](const auto& list, bool (Checker::*sound)(const typename std::decay_t<decltype(list)>::value_type&) const) {
      return std::ranges::all_of(list, [&](const auto& item) { return (this->*sound)(item); });
    };
    return all(p_.buffers, &Checker::buffer_sound) && all(p_.guards, &Checker::guard_sound) && guards_in_order() &&
           all(p_.blobs, &Checker::blob_sound) && all(p_.steps, &Checker::step_sound) && all(p_.inputs, &Checker::port_sound) &&
           all(p_.outputs, &Checker::port_sound) &&
           std::ranges::none_of(p_.outputs, [](const PortInfo& o) { return o.buffer == kMissing; });
  }

 private:
  bool slots(const std::vector<Slot>& list) const {
    return std::ranges::all_of(list, [&](Slot s) { return s < p_.sizes.size(); });
  }

  bool line_sound(uint32_t k) const {
    using Kind = SizeLine::Kind;
    const SizeLine& l = p_.sizes[k];
    if (l.kind < Kind::constant || l.kind > Kind::state_size) return false;
    if (l.kind == Kind::constant || l.kind == Kind::bound || l.kind == Kind::outer) return true;  // outer: checked with the step
    if (l.kind == Kind::state_length || l.kind == Kind::state_size) return true;                  // checked with the states
    if (l.kind == Kind::input_dimension) return l.a < p_.inputs.size() && l.b < p_.inputs[l.a].shape.size();
    return l.a < k && l.b < k && (l.kind != Kind::select || l.c < k);
  }

  bool guard_sound(const Guard& g) const { return g.kind >= Guard::Kind::equal && g.kind <= Guard::Kind::spreads && slots({g.a, g.b}); }
  bool guards_in_order() const {
    return std::ranges::is_sorted(p_.guards, {}, [](const Guard& g) { return std::max(g.a, g.b); });
  }

  /// Whether the container type is valid: only maps have keys, and only tensors have a shape.
  static bool container_sound(const ContainerInfo& h, const std::vector<Slot>& shape) {
    const bool map = h.kind == ValueKind::map || h.kind == ValueKind::sequence_of_maps;
    const bool key_sound = map ? h.key == DType::i64 || h.key == DType::string : h.key == DType::none;
    return key_sound && (h.kind == ValueKind::tensor || (h.kind <= ValueKind::sequence_of_maps && shape.empty()));
  }

  bool buffer_sound(const BufferInfo& b) const {
    using Kind = BufferInfo::Kind;
    const bool may_be_container = b.kind == Kind::input || b.kind == Kind::dynamic;
    if (!container_sound(b.container, b.shape) || (b.container.kind != ValueKind::tensor && !may_be_container)) return false;
    if (static_cast<int>(b.dtype) == 0 || static_cast<int>(b.dtype) >= kDTypeCount || b.kind < Kind::input || b.kind > Kind::state ||
        !slots(b.shape) || (b.units && (b.kind != Kind::arena || *b.units >= p_.sizes.size())))
      return false;
    if (b.kind == Kind::input) return b.index < p_.inputs.size();
    if (b.kind == Kind::output)
      return b.index < p_.outputs.size() && p_.outputs[b.index].buffer == static_cast<size_t>(&b - p_.buffers.data());
    if (b.kind == Kind::alias)
      return b.index < p_.buffers.size() && p_.buffers[b.index].kind != Kind::alias &&
             p_.buffers[b.index].container.kind == ValueKind::tensor;
    return b.kind != Kind::weight || weight_sound(b);
  }

  bool weight_sound(const BufferInfo& b) const {
    std::vector<int64_t> shape;
    for (Slot s : b.shape) {
      if (p_.sizes[s].kind != SizeLine::Kind::constant) return false;
      shape.push_back(p_.sizes[s].constant);
    }
    return lies_in_weights(b.dtype, shape, b.offset);
  }

  bool lies_in_weights(DType dtype, const std::vector<int64_t>& shape, uint64_t offset) const {
    const auto count = checked_count(shape);
    return count && *count < (int64_t{1} << 50) && offset <= table_.weight_bytes &&
           static_cast<uint64_t>(bytes_of(dtype, *count)) <= table_.weight_bytes - offset;
  }

  bool default_sound(const PortInfo& port) const {
    if (!port.default_value) return true;
    const DefaultValue& value = *port.default_value;
    const bool is_plain = port.container.kind == ValueKind::tensor && bits_of(port.dtype) > 0 && value.shape.size() == port.shape.size();
    return is_plain && value.offset % alignof(std::max_align_t) == 0 && lies_in_weights(port.dtype, value.shape, value.offset);
  }

  bool has_role(uint32_t number, Role role) const { return number < table_.size() && table_.programs[number].role == role; }

  bool blob_sound(const Blob& blob) const {
    return std::ranges::all_of(blob.graphs, [&](uint32_t g) { return has_role(g, Role::inner_graph); });
  }

  bool step_sound(const Step& s) const {
    return s.lines <= p_.sizes.size() && slots(s.sizes) && bindings_sound(s) &&
           std::visit(
               [&](const auto& kind) {
                 constexpr bool may_miss = requires { kind.kAllowsMissingBuffers; }, takes_containers = requires { kind.kTakesContainers; };
                 return buffers_sound(s, may_miss, takes_containers) && kind.is_sound(s, p_, table_);
               },
               s.kind);
  }

  bool buffers_sound(const Step& s, bool may_miss, bool takes_containers) const {
    for (const auto* list : {&s.buffers, &s.results})
      for (uint32_t b : *list)
        if (b >= p_.buffers.size() && !(b == kMissing && may_miss)) return false;
    return takes_containers ||
           std::ranges::all_of(s.buffers, [&](uint32_t b) { return p_.buffers[b].container.kind == ValueKind::tensor; });
  }

  bool bindings_sound(const Step& s) const {
    return std::ranges::all_of(s.bindings, [&](const Step::Binding& b) {
      return b.slot < p_.sizes.size() && p_.sizes[b.slot].kind == SizeLine::Kind::bound && b.result < s.results.size();
    });
  }

  bool port_sound(const PortInfo& port) const {
    for (const ElementLimit& l : port.limits)
      if (l.extent >= p_.input_lines) return false;
    if (port.buffer < p_.buffers.size()) {
      const BufferInfo& b = p_.buffers[port.buffer];
      if (b.container.kind != port.container.kind || b.dtype != port.dtype) return false;
    }
    return default_sound(port) && slots(port.shape) && container_sound(port.container, port.shape) &&
           (port.buffer < p_.buffers.size() || port.buffer == kMissing) && port.dimensions.size() == port.shape.size() &&
           port.lower.size() == port.shape.size() && port.upper.size() == port.shape.size();
  }

  const Program& p_;
  const ProgramTable& table_;
};

}  // namespace

bool is_writable(const BufferInfo& b) {
  if (b.kind == BufferInfo::Kind::dynamic) return true;
  return (b.kind == BufferInfo::Kind::arena || b.kind == BufferInfo::Kind::output) && b.dtype != DType::string;
}

bool is_sound(const Program& program, const ProgramTable& table) { return Checker(program, table).sound(); }

}  // namespace tenon::runtime
