// SPDX-License-Identifier: Apache-2.0
// The library's own creators as ops of Tenon.
#pragma once
#include <array>
#include <set>
#include <utility>

#include "tenon/trt/adapter/node.hpp"

namespace tenon::trt::detail {

/// A namespace for creators that have none: nodes of ONNX need a domain that is not ONNX's own.
constexpr const char* kNoNamespace = "trt.plugins";
/// `create` gets no argument for its op: each creator has a function of its own.
constexpr size_t kMostCreators = 256;

TENON_TRT_OWN inline std::vector<Creator>& exported_creators() {
  static auto& own = *new std::vector<Creator>;
  return own;
}

inline Node& node_of(void* self) { return *static_cast<Node*>(self); }

__attribute__((noinline)) inline int32_t create_of(size_t creator, const tenon_node* node, void** self) {
  return ext::guarded([&] { *self = Node::create(exported_creators()[creator], *node).release(); });
}
template <size_t K>
int32_t create(const tenon_host*, const tenon_node* node, void** self) {
  return create_of(K, node, self);
}
template <size_t... Ks>
constexpr auto all_creates(std::index_sequence<Ks...>) {
  return std::array<decltype(&create<0>), sizeof...(Ks)>{&create<Ks>...};
}
constexpr auto kCreates = all_creates(std::make_index_sequence<kMostCreators>());

/// A text that lives as long as the library.
TENON_TRT_OWN inline const char* name_of_tactic(int32_t id) {
  static std::mutex lock;
  static auto& names = *new std::set<std::string>;
  const std::lock_guard<std::mutex> held(lock);
  return names.insert("tactic " + std::to_string(id)).first->c_str();
}

inline void set_build_functions(tenon_op& op) {
  op.destroy = [](void* self) { delete static_cast<Node*>(self); };
  op.infer = [](void* self, tenon_inference* own) { return ext::guarded([&] { node_of(self).infer(*own); }); };
  op.supports = [](void* self, uint32_t position, const tenon_format* formats, uint32_t count) {
    return ext::guarded([&] {
      if (node_of(self).supports(position, formats, count)) return;
      throw ext::Error(TENON_NOT_SUPPORTED, "supportsFormatCombination refuses dtype " + std::to_string(formats[position].dtype) +
                                                " at place " + std::to_string(position));
    });
  };
  op.configure = [](void* self, const tenon_ranges* ranges) { return ext::guarded([&] { node_of(self).configure(*ranges); }); };
  op.save = [](void* self, const tenon_saver* saver) { return ext::guarded([&] { node_of(self).save(ext::Saver(*saver)); }); };
  op.tactics = [](void* self, uint32_t room, tenon_tactic* out, uint32_t* count) {
    return ext::guarded([&] {
      const std::vector<int32_t> all = node_of(self).tactics();
      *count = static_cast<uint32_t>(all.size());  // what cannot be is the host's to refuse
      for (uint32_t k = 0; k < room && k < *count; ++k) out[k] = {all[k], name_of_tactic(all[k])};
    });
  };
}

inline void set_run_functions(tenon_op& op) {
  using Views = const tenon_tensor* const*;
  op.attach = [](void* self, void** out) { return ext::guarded([&] { *out = node_of(self).attach().release(); }); };
  op.shapes_changed = [](void* self, Views operands, Views results) {
    return ext::guarded([&] { node_of(self).shapes_changed(operands, results); });
  };
  op.workspace = [](void* self, Views operands, Views results, uint64_t* bytes) {
    return ext::guarded([&] { *bytes = node_of(self).workspace(operands, results); });
  };
  op.enqueue = [](void* self, const tenon_call* call) { return ext::guarded([&] { node_of(self).enqueue(*call); }); };
}

/// The numbers of operands and results of a plugin are unknown before it is made.
inline const tenon_op& table_of(const Creator& creator, size_t index) {
  auto& op = *new ext::Description;
  op.name(creator.name_space, creator.name(), creator.version());
  op.docs(creator.is_v3() ? "a plugin by IPluginV3" : "a plugin by IPluginV2");
  op.operand("inputs").variadic = 1;
  op.result("outputs").variadic = 1;
  describe_fields(creator, op);
  op.op.create = kCreates[index];
  set_build_functions(op.op);
  set_run_functions(op.op);
  return op.finish();
}

/// What the library registered by itself, then what it exports; each creator once, under the first key that it has.
inline std::vector<Creator> collected() {
  std::vector<Creator> out;
  const auto take = [&](Creator creator) {
    if (creator.name_space.empty()) creator.name_space = creator.own_name_space();
    if (creator.name_space.empty()) creator.name_space = kNoNamespace;
    for (const Creator& other : out) {
      if (other.own == creator.own && other.name_space == creator.name_space) return;
      if (!other.is(creator)) continue;
      getLogger()->log(ILogger::Severity::kWARNING, (creator.text() + " is there twice: the first one is taken").c_str());
      return;
    }
    out.push_back(std::move(creator));
  };
  for (const Creator& c : registry().creators()) take(c);
  Dl_info here;
  void* const handle =
      dladdr(reinterpret_cast<const void*>(&exported_creators), &here) ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (!handle) return out;
  for (IPluginCreatorInterface* const own : Registry::exported(handle, here.dli_fbase)) {
    const auto has = [&](const Creator& c) { return c.own == own; };
    if (std::none_of(out.begin(), out.end(), has)) take({"", own, nullptr});
  }
  dlclose(handle);
  return out;
}

/// The functions that the library requires to be called when it is opened: setLoggerFinder, and initTrtLlmPlugins, which registers
/// creators.
inline void initialize_library() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<const void*>(&exported_creators), &here)) return;
  void* const handle = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (!handle) return;
  if (void* const set = Registry::symbol(handle, "setLoggerFinder", here.dli_fbase))
    reinterpret_cast<void (*)(ILoggerFinder*)>(set)(getLoggerFinder());
  void* const init = Registry::symbol(handle, "initTrtLlmPlugins", here.dli_fbase);
  dlclose(handle);
  take_errors();
  if (init && !reinterpret_cast<bool (*)(void*, char const*)>(init)(getLogger(), api::kDefaultNamespace))
    throw ext::Error(TENON_FAILED, "initTrtLlmPlugins failed" + take_errors());
}

/// The library's table, made once. Null: an error, which the host receives.
TENON_TRT_OWN inline const tenon_library* library(const tenon_host* host) {
  ext::host() = host;
  static std::vector<const tenon_op*>& ops = *new std::vector<const tenon_op*>;
  static tenon_library own{sizeof(tenon_library), 1, nullptr, nullptr, 0, nullptr};
  const int32_t status = ext::guarded([&] {
    if (!ops.empty()) return;
    initialize_library();
    exported_creators() = collected();
    if (exported_creators().size() > kMostCreators)
      throw ext::Error(TENON_FAILED, "a library has room for " + std::to_string(kMostCreators) + " creators");
    for (size_t k = 0; k < exported_creators().size(); ++k) ops.push_back(&table_of(exported_creators()[k], k));
    own.ops = ops.data();
    own.op_count = static_cast<uint32_t>(ops.size());
  });
  return status == TENON_OK ? &own : nullptr;
}

}  // namespace tenon::trt::detail
