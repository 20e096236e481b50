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
/// Whether elements in this layout are in another order than row-major, so that a tensor is copied to other memory in that order.
bool is_reordered(int32_t layout, size_t rank);
/// Strides of each axis, in elements.
Sizes strides_of(int32_t layout, std::span<const int64_t> sizes);

/// Converts the operands, or the results, of a node between Tenon's row-major memory and the layouts that its plugin uses.
class LayoutConversion {
 public:
  /// views: of the operands or results; outlive this. layouts: one for each.
  LayoutConversion(TensorViews& views, Layouts layouts);

  /// After TensorViews::set or set_type: sets layout and strides, and allocates memory of its own where the layout needs it. Errors:
  /// out_of_memory; not_supported for elements of less than a byte.
  Result<void> lay_out(size_t index);
  void clear(size_t index) { tensors_[index].is_converted = false; }
  void set_data(size_t index, void* data);
  /// Copies operands whose data was set since the last call to the memory of the plugin.
  void convert_operands(ThreadPool* thread_pool, int threads);
  /// Copies results from the memory of the plugin to Tenon's memory.
  void convert_results(ThreadPool* thread_pool, int threads) const;

 private:
  struct Converted {
    bool is_converted = false;  ///< the plugin uses `reordered`; false: it uses Tenon's memory
    bool is_new = false;        ///< of an operand: its data was set since it was converted last
    void* row_major = nullptr;  ///< the elements in Tenon's memory
    Tensor reordered;           ///< the elements in the plugin's layout
    Sizes strides;
  };
  TensorViews& views_;
  Layouts layouts_;
  std::vector<Converted> tensors_;
};

}  // namespace tenon::plugin
