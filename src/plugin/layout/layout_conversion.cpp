// SPDX-License-Identifier: Apache-2.0
#include "plugin/layout/layout_conversion.h"

#include <algorithm>

#include "plugin/layout/transpose.h"

namespace tenon::plugin {

namespace {

/// a * b, which wraps: only the sizes of a tensor without elements can overflow, and no access uses that product.
int64_t product(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }

/// [n, c, ...] as n matrices of c rows.
struct Matrices {
  int64_t batch, channels, places = 1;
  explicit Matrices(std::span<const int64_t> sizes) : batch(sizes[0]), channels(sizes[1]) {
    for (int64_t s : sizes.subspan(2)) places = product(places, s);
  }
};

int bytes_of_element(const tenon_tensor& t) { return bits_of(static_cast<DType>(t.dtype)) / 8; }

}  // namespace

const char* name_of_layout(int32_t layout) {
  return layout == TENON_CHANNELS_LAST ? "channels-last" : layout == TENON_STRIDED ? "strided" : "row-major";
}

bool is_reordered(int32_t layout, size_t rank) { return layout == TENON_CHANNELS_LAST && rank > 2; }

Sizes strides_of(int32_t layout, std::span<const int64_t> sizes) {
  Sizes out(sizes.size());
  int64_t stride = 1;
  const auto give = [&](size_t axis) {
    out[axis] = stride;
    stride = product(stride, sizes[axis]);
  };
  const bool channels_last = is_reordered(layout, sizes.size());
  if (channels_last) give(1);
  for (size_t axis = sizes.size(); axis-- > 0;)
    if (!channels_last || axis != 1) give(axis);
  return out;
}

LayoutConversion::LayoutConversion(TensorViews& views, Layouts layouts)
    : views_(views), layouts_(std::move(layouts)), tensors_(views.size()) {}

Result<void> LayoutConversion::lay_out(size_t index) {
  const std::span<const int64_t> sizes = views_.sizes(index);
  Converted& t = tensors_[index];
  if (layouts_[index] != TENON_ROW_MAJOR) t.strides = strides_of(layouts_[index], sizes);
  views_.set_layout(index, layouts_[index], layouts_[index] == TENON_ROW_MAJOR ? nullptr : t.strides.data());
  t.is_converted = is_reordered(layouts_[index], sizes.size());
  if (!t.is_converted) return {};
  const auto dtype = static_cast<DType>(views_[index].dtype);
  if (bits_of(dtype) < 8)
    return fail(Code::not_supported, "plugin", "elements of less than a byte are not laid out anew").found(std::string(name_of(dtype)));
  if (t.reordered.dtype() != dtype || !std::ranges::equal(t.reordered.shape(), sizes))
    t.reordered = TRY(Tensor::make(dtype, Sizes(sizes.begin(), sizes.end())));
  set_data(index, views_[index].data);
  return {};
}

void LayoutConversion::set_data(size_t index, void* data) {
  Converted& t = tensors_[index];
  if (!t.is_converted) return views_.set_data(index, data);
  t.row_major = data;
  t.is_new = true;
  views_.set_data(index, t.reordered.mutable_data());
}

void LayoutConversion::convert_operands(ThreadPool* thread_pool, int threads) {
  for (size_t k = 0; k < tensors_.size(); ++k) {
    Converted& t = tensors_[k];
    if (!t.is_converted || !t.is_new) continue;
    const Matrices m(views_.sizes(k));
    transpose(t.row_major, t.reordered.mutable_data(), m.batch, m.channels, m.places, bytes_of_element(views_[k]), thread_pool, threads);
    t.is_new = false;
  }
}

void LayoutConversion::convert_results(ThreadPool* thread_pool, int threads) const {
  for (size_t k = 0; k < tensors_.size(); ++k) {
    const Converted& t = tensors_[k];
    if (!t.is_converted) continue;
    const Matrices m(views_.sizes(k));
    transpose(t.reordered.data(), t.row_major, m.batch, m.places, m.channels, bytes_of_element(views_[k]), thread_pool, threads);
  }
}

}  // namespace tenon::plugin
