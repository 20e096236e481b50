// SPDX-License-Identifier: Apache-2.0
// Tensors and runs of tenon/plugin.hpp.
#pragma once
#include <cstddef>
#include <exception>
#include <mutex>

#include "tenon/ext/core.hpp"

namespace tenon::ext {

template <class T>
constexpr int32_t dtype_of() {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, float>) return TENON_F32;
  else if constexpr (std::is_same_v<Plain, double>) return TENON_F64;
  else if constexpr (std::is_same_v<Plain, int8_t>) return TENON_I8;
  else if constexpr (std::is_same_v<Plain, uint8_t>) return TENON_U8;
  else if constexpr (std::is_same_v<Plain, int16_t>) return TENON_I16;
  else if constexpr (std::is_same_v<Plain, int32_t>) return TENON_I32;
  else if constexpr (std::is_same_v<Plain, int64_t>) return TENON_I64;
  else if constexpr (std::is_same_v<Plain, bool>) return TENON_BOOL;
  else return -1;  // 16-bit floats: the library has its own type for them
}

/// A view.
class Tensor {
 public:
  explicit Tensor(const tenon_tensor& own) : own_(&own) {}
  /// A missing operand, or a result without readers.
  bool missing() const { return own_->dtype == TENON_NO_DTYPE; }
  int32_t dtype() const { return own_->dtype; }
  int32_t layout() const { return own_->layout; }
  /// In elements; null: row-major.
  const int64_t* strides() const { return own_->strides; }
  int32_t rank() const { return own_->rank; }
  /// axis: from the end where below 0.
  int64_t size(int32_t axis) const { return own_->sizes[axis < 0 ? axis + own_->rank : axis]; }
  std::vector<int64_t> sizes() const { return {own_->sizes, own_->sizes + own_->rank}; }
  int64_t count() const {
    int64_t n = 1;
    for (int32_t axis = 0; axis < own_->rank; ++axis) n *= own_->sizes[axis];
    return n;
  }
  /// Errors: another type than T.
  template <class T>
  T* data() const {
    if (dtype_of<T>() >= 0 && dtype_of<T>() != own_->dtype)
      throw Error(TENON_NOT_SUPPORTED, "a tensor is of dtype " + std::to_string(own_->dtype) + ", not " + std::to_string(dtype_of<T>()));
    return static_cast<T*>(own_->data);
  }
  const tenon_tensor& raw() const { return *own_; }

 private:
  const tenon_tensor* own_;
};

class Tensors {
 public:
  explicit Tensors(const tenon_tensor* const* own) : own_(own) {}
  Tensor operator[](size_t k) const { return Tensor(*own_[k]); }

 private:
  const tenon_tensor* const* own_;
};

/// A row-major tensor in memory of the plugin's own: what an inner graph gets or gives between others.
class Dense {
 public:
  Dense(int32_t dtype, std::vector<int64_t> sizes, void* data) : sizes_(std::move(sizes)) {
    own_.struct_size = sizeof(tenon_tensor);
    own_.dtype = dtype;
    own_.layout = TENON_ROW_MAJOR;
    own_.rank = static_cast<int32_t>(sizes_.size());
    own_.sizes = sizes_.data();
    own_.data = data;
  }
  Dense(const Dense&) = delete;
  /// Valid as long as this.
  Tensor view() const { return Tensor(own_); }

 private:
  std::vector<int64_t> sizes_;
  tenon_tensor own_{};
};

/// One run.
class Call {
 public:
  explicit Call(const tenon_call& own) : own_(own) {}
  uint32_t operand_count() const { return own_.operand_count; }
  uint32_t result_count() const { return own_.result_count; }
  Tensor operand(uint32_t k) const { return Tensor(*own_.operands[k]); }
  Tensor result(uint32_t k) const { return Tensor(*own_.results[k]); }
  void* workspace() const { return own_.workspace; }
  int32_t tactic() const { return own_.tactic; }
  int32_t threads() const { return own_.threads; }
  bool stopped() const { return own_.stopped(&own_) != 0; }
  void throw_if_stopped() const {
    if (stopped()) throw Error(TENON_STOPPED, "the run was stopped");
  }

  /// body(begin, end, thread), over [0, count) in pieces of at least `grain`; throws the first of what it throws.
  template <class Body>
  void parallel_for(int64_t count, int64_t grain, Body&& body) const {
    struct Pieces {
      std::remove_reference_t<Body>* body;
      std::mutex lock;
      std::exception_ptr first;
    } pieces{&body, {}, nullptr};
    const auto piece = [](void* argument, int64_t begin, int64_t end, int32_t thread) {
      auto& all = *static_cast<Pieces*>(argument);
      try {
        (*all.body)(begin, end, thread);
      } catch (...) {
        const std::lock_guard<std::mutex> held(all.lock);
        if (!all.first) all.first = std::current_exception();
      }
    };
    check(own_.parallel_for(&own_, count, grain, piece, &pieces));
    if (pieces.first) std::rethrow_exception(pieces.first);
  }

  /// The sizes of a result of data-dependent shape; returns the memory of its elements.
  template <class T>
  T* set_sizes(uint32_t result, const std::vector<int64_t>& sizes) const {
    void* data = nullptr;
    check(own_.set_sizes(&own_, result, static_cast<int32_t>(sizes.size()), sizes.data(), &data));
    return static_cast<T*>(data);
  }
  /// Runs an inner graph (Graphs::add): call.run_graph(product, {x, w}, {y}). Results are written where they point. Allocates nothing.
  /// Errors: other numbers of operands or results than the graph has; what it does not take.
  template <size_t N, size_t M>
  void run_graph(uint32_t graph, const Tensor (&operands)[N], const Tensor (&results)[M]) const {
    check_counts(graph, N, M);
    const tenon_tensor *in[N], *out[M];
    for (size_t k = 0; k < N; ++k) in[k] = &operands[k].raw();
    for (size_t k = 0; k < M; ++k) out[k] = &results[k].raw();
    run_graph(graph, in, out);
  }
  void run_graph(uint32_t graph, const tenon_tensor* const* operands, const tenon_tensor* const* results) const {
    check(own_.run_graph(&own_, graph, operands, results));
  }
  const tenon_call& raw() const { return own_; }

 private:
  void check_counts(uint32_t graph, size_t operands, size_t results) const {
    if (own_.struct_size <= offsetof(tenon_call, graph_ports)) return;  // an older host
    uint32_t takes = 0, gives = 0;
    check(own_.graph_ports(&own_, graph, &takes, &gives));
    if (takes != operands || gives != results)
      throw Error(TENON_FAILED, "inner graph " + std::to_string(graph) + " has " + std::to_string(takes) + " operands and " +
                                    std::to_string(gives) + " results, given are " + std::to_string(operands) + " and " +
                                    std::to_string(results));
  }
  static void check(int32_t status) {
    if (status != TENON_OK) throw HostError(status);
  }
  const tenon_call& own_;
};

/// What `define` writes to.
class Definition {
 public:
  explicit Definition(const tenon_definition& own) : own_(own) {}
  Node node() const { return Node(*own_.node); }
  const tenon_type& operand(uint32_t k) const { return *own_.operands[k]; }
  uint32_t operand_count() const { return own_.operand_count; }
  void write(const std::string& text) const {
    if (const int32_t status = own_.write(&own_, text.c_str()); status != TENON_OK) throw HostError(status);
  }

 private:
  const tenon_definition& own_;
};

/// What `add_graphs` adds to.
class Graphs {
 public:
  explicit Graphs(const tenon_graphs& own) : own_(own) {}
  /// A graph in Tenon's text form; gives its number for Call::run_graph, the same in the engine as here: 0, 1, ... of this node.
  uint32_t add(const std::string& text) const {
    uint32_t number = 0;
    if (const int32_t status = own_.add(&own_, text.c_str(), &number); status != TENON_OK) throw HostError(status);
    return number;
  }
  /// Of a text with separate constants: `const w: f32[768,3072] = @0` is the first. What constant() gave is not copied.
  uint32_t add(const std::string& text, const std::vector<Tensor>& constants) const {
    std::vector<const tenon_tensor*> own;
    for (const Tensor& t : constants) own.push_back(&t.raw());
    uint32_t number = 0;
    const auto count = static_cast<uint32_t>(own.size());
    if (const int32_t status = own_.add_with(&own_, text.c_str(), count, own.data(), &number); status != TENON_OK) throw HostError(status);
    return number;
  }
  /// An operand of the node that is a constant; false: its value is known only when the model runs. value: valid until add_graphs returns.
  bool constant(uint32_t operand, tenon_tensor& value) const {
    value = {};
    value.struct_size = sizeof value;
    if (const int32_t status = own_.constant(&own_, operand, &value); status != TENON_OK) throw HostError(status);
    return value.dtype != TENON_NO_DTYPE;
  }

 private:
  const tenon_graphs& own_;
};

/// What objects of a library share by a key: made by T's default constructor on first use.
template <class T>
class Shared {
 public:
  explicit Shared(std::string key) : key_(std::move(key)) {
    const tenon_resource maker{sizeof(tenon_resource), [](void*, void** out) { return guarded([&] { *out = new T(); }); },
                               [](void* resource) { delete static_cast<T*>(resource); }, nullptr};
    void* out = nullptr;
    if (const int32_t status = host()->acquire(host(), key_.c_str(), &maker, &out); status != TENON_OK) throw HostError(status);
    own_ = static_cast<T*>(out);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { host()->release(host(), key_.c_str()); }
  T* operator->() const { return own_; }
  T& operator*() const { return *own_; }

 private:
  std::string key_;
  T* own_ = nullptr;
};

}  // namespace tenon::ext
