// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/threads/thread_pool.h"
#include "plugin/tensor_views.h"

namespace tenon::plugin {

/// A layout for each operand, then for each result: tenon_layout. Empty: all row-major.
using Layouts = std::vector<int32_t>;

/// "row-major", "channels-last", "strided".
const char* name_of_layout(int32_t layout);
/// Whether memory in this layout is other than row-major memory.
bool is_apart(int32_t layout, size_t rank);
/// In elements.
Sizes strides_of(int32_t layout, std::span<const int64_t> sizes);

/// Presents the operands, or the results, of a node in the layouts of its plugin, and converts them there and back: all memory of Tenon
/// is row-major.
class LayoutConversion {
 public:
  /// views: of these; outlive it. layouts: one each.
  LayoutConversion(TensorViews& views, Layouts layouts);

  /// After TensorViews::set or set_type: sets layout and strides, and allocates memory of its own where the layout needs it. Errors:
  /// out_of_memory; not_supported for elements of less than a byte.
  Result<void> lay_out(size_t index);
  void clear(size_t index) { tensors_[index].apart = false; }
  void set_data(size_t index, void* data);
  /// Operands from our memory to the plugin's, those that were set since.
  void bring(ThreadPool* thread_pool, int threads);
  /// Results from the plugin's memory to ours.
  void take(ThreadPool* thread_pool, int threads) const;

 private:
  struct One {
    bool apart = false;  ///< the plugin's memory is not ours
    bool is_new = false;
    void* ours = nullptr;
    Tensor theirs;
    Sizes strides;
  };
  TensorViews& views_;
  Layouts layouts_;
  std::vector<One> tensors_;
};

}  // namespace tenon::plugin
