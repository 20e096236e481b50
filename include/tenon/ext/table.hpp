// SPDX-License-Identifier: Apache-2.0
// The tables of tenon/plugin.h, made from classes.
#pragma once
#include <deque>
#include <initializer_list>
#include <memory>

#include "tenon/ext/run.hpp"

namespace tenon::ext {

/// What an op is. Lives as long as the library: so does all that it points at.
class Description {
 public:
  Description() { op.struct_size = sizeof(tenon_op); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  void name(const std::string& name_space, const std::string& name, const std::string& version) {
    op.name_space = keep(name_space);
    op.name = keep(name);
    op.version = keep(version);
  }
  void docs(const std::string& text) { op.docs = keep(text); }
  void expression(const std::string& text) { op.expression = keep(text); }
  void kernel_of(const std::string& name) { op.kernel_of = keep(name); }
  void sample(const std::string& text) { samples_.push_back(keep(text)); }
  /// dtypes: those that it may have; none: any.
  tenon_port& operand(const std::string& name, std::initializer_list<tenon_dtype> dtypes = {}) { return port(operands_, name, dtypes); }
  tenon_port& result(const std::string& name, std::initializer_list<tenon_dtype> dtypes = {}) { return port(results_, name, dtypes); }

  /// One that has to be given.
  template <class T>
  tenon_field_rule& field(const std::string& name, int64_t length = 1) {
    return rule(name, field_type_of<T>(), length, nullptr);
  }
  template <class T>
  tenon_field_rule& field(const std::string& name, const T& otherwise, const char* docs) {
    tenon_field_rule& out =
        rule(name, field_type_of<T>(), 1, keep(std::string(reinterpret_cast<const char*>(&otherwise), sizeof otherwise)));
    out.docs = docs;
    return out;
  }
  tenon_field_rule& text(const std::string& name, const std::string& otherwise) {
    return rule(name, TENON_FIELD_CHAR, -1, keep(otherwise));
  }
  tenon_field_rule& rule(const std::string& name, int32_t type, int64_t length, const void* otherwise) {
    tenon_field_rule& out = rules_.emplace_back();
    out.struct_size = sizeof out;
    out.name = keep(name);
    out.type = type;
    out.length = length;
    out.otherwise = otherwise;
    rule_pointers_.push_back(&out);
    return out;
  }
  /// A copy that lives as long as the library.
  const char* keep(const std::string& text) { return texts_.emplace_back(text).c_str(); }

  tenon_op op{};  ///< functions and flags may be set as they are

  const tenon_op& finish() {
    op.operands = operands_.pointers.data();
    op.operand_count = static_cast<uint32_t>(operands_.pointers.size());
    op.results = results_.pointers.data();
    op.result_count = static_cast<uint32_t>(results_.pointers.size());
    op.fields = rule_pointers_.data();
    op.field_count = static_cast<uint32_t>(rule_pointers_.size());
    op.samples = samples_.data();
    op.sample_count = static_cast<uint32_t>(samples_.size());
    return op;
  }

 private:
  struct Ports {
    std::deque<tenon_port> own;
    std::vector<const tenon_port*> pointers;
  };
  tenon_port& port(Ports& to, const std::string& name, std::initializer_list<tenon_dtype> dtypes) {
    tenon_port& out = to.own.emplace_back();
    out.struct_size = sizeof out;
    out.name = keep(name);
    for (const tenon_dtype t : dtypes) out.dtypes |= TENON_DTYPE_BIT(t);
    to.pointers.push_back(&out);
    return out;
  }

  std::deque<std::string> texts_;
  Ports operands_, results_;
  std::deque<tenon_field_rule> rules_;
  std::vector<const tenon_field_rule*> rule_pointers_;
  std::vector<const char*> samples_;
};

namespace detail {

#define TENON_EXT_HAS(function)               \
  template <class T, class = void>            \
  struct has_##function : std::false_type {}; \
  template <class T>                          \
  struct has_##function<T, std::void_t<decltype(&T::function)>> : std::true_type {};
TENON_EXT_HAS(infer)
TENON_EXT_HAS(define)
TENON_EXT_HAS(supports)
TENON_EXT_HAS(configure)
TENON_EXT_HAS(tactics)
TENON_EXT_HAS(workspace)
TENON_EXT_HAS(save)
TENON_EXT_HAS(add_graphs)
TENON_EXT_HAS(attach)
TENON_EXT_HAS(shapes_changed)
TENON_EXT_HAS(enqueue)
#undef TENON_EXT_HAS

template <class T>
T& object(void* self) {
  return *static_cast<T*>(self);
}

/// Functions that say what is computed, and where.
template <class T>
void set_build_functions(tenon_op& op) {
  if constexpr (has_infer<T>::value)
    op.infer = [](void* self, tenon_inference* own) {
      return guarded([&] {
        Inference types(*own);
        object<T>(self).infer(types);
        types.finish();
      });
    };
  if constexpr (has_define<T>::value)
    op.define = [](void* self, const tenon_definition* own) {
      return guarded([&] {
        Definition definition(*own);
        object<T>(self).define(definition);
      });
    };
  if constexpr (has_supports<T>::value)
    op.supports = [](void* self, uint32_t position, const tenon_format* formats, uint32_t count) {
      return guarded([&] {
        if (!object<T>(self).supports(position, formats, count)) throw HostError(TENON_NOT_SUPPORTED);
      });
    };
  if constexpr (has_configure<T>::value)
    op.configure = [](void* self, const tenon_ranges* ranges) { return guarded([&] { object<T>(self).configure(*ranges); }); };
  if constexpr (has_tactics<T>::value)
    op.tactics = [](void* self, uint32_t room, tenon_tactic* out, uint32_t* count) {
      return guarded([&] {
        const std::vector<tenon_tactic> all = object<T>(self).tactics();
        *count = static_cast<uint32_t>(all.size());  // more than there is room for is the host's to refuse
        for (uint32_t k = 0; k < room && k < *count; ++k) out[k] = all[k];
      });
    };
  if constexpr (has_save<T>::value)
    op.save = [](void* self, const tenon_saver* saver) { return guarded([&] { object<T>(self).save(Saver(*saver)); }); };
  if constexpr (has_add_graphs<T>::value)
    op.add_graphs = [](void* self, const tenon_graphs* graphs) { return guarded([&] { object<T>(self).add_graphs(Graphs(*graphs)); }); };
}

template <class T>
void set_run_functions(tenon_op& op) {
  using Views = const tenon_tensor* const*;
  if constexpr (has_workspace<T>::value)
    op.workspace = [](void* self, Views operands, Views results, uint64_t* bytes) {
      return guarded([&] { *bytes = object<T>(self).workspace(Tensors(operands), Tensors(results)); });
    };
  if constexpr (has_shapes_changed<T>::value)
    op.shapes_changed = [](void* self, Views operands, Views results) {
      return guarded([&] { object<T>(self).shapes_changed(Tensors(operands), Tensors(results)); });
    };
  if constexpr (has_attach<T>::value)
    op.attach = [](void* self, void** out) {
      return guarded([&] {
        std::unique_ptr<T> made = object<T>(self).attach();
        *out = made.release();
      });
    };
  if constexpr (has_enqueue<T>::value)
    op.enqueue = [](void* self, const tenon_call* own) { return guarded([&] { object<T>(self).enqueue(Call(*own)); }); };
}

template <class T>
__attribute__((visibility("hidden"))) const tenon_op& table() {
  static Description& description = *[] {
    auto made = std::make_unique<Description>();
    T::describe(*made);
    if constexpr (std::is_constructible_v<T, const Node&>) {
      made->op.create = [](const tenon_host*, const tenon_node* node, void** self) { return guarded([&] { *self = new T(Node(*node)); }); };
      made->op.destroy = [](void* self) { delete static_cast<T*>(self); };
    }
    set_build_functions<T>(made->op);
    set_run_functions<T>(made->op);
    return made.release();
  }();
  return description.finish();
}

}  // namespace detail

/// The table of a library of these classes. What `describe` throws is an error of the library.
template <class... Ts>
__attribute__((visibility("hidden"))) const tenon_library* library(const tenon_host* table, const char* name, const char* version) {
  host() = table;
  static const tenon_op* ops[sizeof...(Ts)];
  static tenon_library out{sizeof(tenon_library), 1, name, version, sizeof...(Ts), ops};
  const int32_t status = guarded([&] {
    size_t k = 0;
    ((ops[k++] = &detail::table<Ts>()), ...);
  });
  return status == TENON_OK ? &out : nullptr;
}

}  // namespace tenon::ext
