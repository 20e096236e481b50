// SPDX-License-Identifier: Apache-2.0
#include "plugin/layout/layout_conversion.h"

#include <algorithm>

#include "plugin/layout/transpose.h"

namespace tenon::plugin {

namespace {

/// Of a tensor without elements the sizes may be any: what outgrows 63 bits then is read by nobody.
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

bool is_apart(int32_t layout, size_t rank) { return layout == TENON_CHANNELS_LAST && rank > 2; }

Sizes strides_of(int32_t layout, std::span<const int64_t> sizes) {
  Sizes out(sizes.size());
  int64_t stride = 1;
  const auto give = [&](size_t axis) {
    out[axis] = stride;
    stride = product(stride, sizes[axis]);
  };
  const bool channels_last = is_apart(layout, sizes.size());
  if (channels_last) give(1);
  for (size_t axis = sizes.size(); axis-- > 0;)
    if (!channels_last || axis != 1) give(axis);
  return out;
}

LayoutConversion::LayoutConversion(TensorViews& views, Layouts layouts)
    : views_(views), layouts_(std::move(layouts)), tensors_(views.size()) {}

Result<void> LayoutConversion::lay_out(size_t index) {
  const std::span<const int64_t> sizes = views_.sizes(index);
  One& t = tensors_[index];
  if (layouts_[index] != TENON_ROW_MAJOR) t.strides = strides_of(layouts_[index], sizes);
  views_.set_layout(index, layouts_[index], layouts_[index] == TENON_ROW_MAJOR ? nullptr : t.strides.data());
  t.apart = is_apart(layouts_[index], sizes.size());
  if (!t.apart) return {};
  const auto dtype = static_cast<DType>(views_[index].dtype);
  if (bits_of(dtype) < 8)
    return fail(Code::not_supported, "plugin", "elements of less than a byte are not laid out anew").found(std::string(name_of(dtype)));
  if (t.theirs.dtype() != dtype || !std::ranges::equal(t.theirs.shape(), sizes))
    t.theirs = TRY(Tensor::make(dtype, Sizes(sizes.begin(), sizes.end())));
  set_data(index, views_[index].data);
  return {};
}

void LayoutConversion::set_data(size_t index, void* data) {
  One& t = tensors_[index];
  if (!t.apart) return views_.set_data(index, data);
  t.ours = data;
  t.is_new = true;
  views_.set_data(index, t.theirs.mutable_data());
}

void LayoutConversion::bring(ThreadPool* thread_pool, int threads) {
  for (size_t k = 0; k < tensors_.size(); ++k) {
    One& t = tensors_[k];
    if (!t.apart || !t.is_new) continue;
    const Matrices m(views_.sizes(k));
    transpose(t.ours, t.theirs.mutable_data(), m.batch, m.channels, m.places, bytes_of_element(views_[k]), thread_pool, threads);
    t.is_new = false;
  }
}

void LayoutConversion::take(ThreadPool* thread_pool, int threads) const {
  for (size_t k = 0; k < tensors_.size(); ++k) {
    const One& t = tensors_[k];
    if (!t.apart) continue;
    const Matrices m(views_.sizes(k));
    transpose(t.theirs.data(), t.ours, m.batch, m.places, m.channels, bytes_of_element(views_[k]), thread_pool, threads);
  }
}

}  // namespace tenon::plugin
