// SPDX-License-Identifier: Apache-2.0
#include "plugin/layout/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/dtype.h"

namespace tenon::plugin {

namespace {

constexpr size_t kAsksAPlace = 64;  ///< what takes nothing in so many calls is taken to take nothing

class Search {
 public:
  Search(const Object& object, std::span<const PortType> places, size_t operands) : object_(object), places_(places), operands_(operands) {
    for (const PortType& p : places) formats_.push_back({static_cast<int32_t>(p.dtype), TENON_ROW_MAJOR});
  }

  Result<std::vector<Layouts>> run(size_t most) {
    TRY(from(0, TENON_ROW_MAJOR, 1));
    if (found_.empty()) return refusal();
    if (most > 1) TRY(from(0, TENON_CHANNELS_LAST, 1));
    if (most > 2) TRY(from(0, TENON_ROW_MAJOR, most));
    return std::move(found_);
  }

 private:
  /// Those that go on from here, as wanted first; `count` of them, those that are known already too.
  Result<void> from(size_t place, int32_t wanted, size_t count) {
    asks_ = 0;
    seen_ = 0;
    return search(place, wanted, count);
  }

  Result<void> search(size_t place, int32_t wanted, size_t count) {
    if (place == places_.size()) {
      keep();
      return {};
    }
    bool is_row_major = false;
    for (int32_t layout : tried(place, wanted)) {
      if (seen_ >= count || asks_ >= kAsksAPlace * (places_.size() + 1)) break;
      if (layout == TENON_STRIDED && is_row_major) continue;  // the same memory with an explicit description
      formats_[place].layout = layout;
      if (!TRY(takes(place))) continue;
      is_row_major |= layout == TENON_ROW_MAJOR;
      TRY(search(place + 1, wanted, count));
    }
    formats_[place].layout = TENON_ROW_MAJOR;
    return {};
  }

  std::vector<int32_t> tried(size_t place, int32_t wanted) const {
    const PortType& p = places_[place];
    if (p.dtype == DType::none) return {TENON_ROW_MAJOR};
    if (p.rank < 0) return {TENON_ROW_MAJOR, TENON_STRIDED};
    if (wanted == TENON_CHANNELS_LAST && p.rank > 2) return {TENON_CHANNELS_LAST, TENON_ROW_MAJOR, TENON_STRIDED};
    return {TENON_ROW_MAJOR, TENON_STRIDED, TENON_CHANNELS_LAST};
  }

  Result<bool> takes(size_t place) {
    ++asks_;
    std::string said;
    const bool out = TRY(object_.takes(static_cast<uint32_t>(place), formats_, said));
    if (!out && place >= refused_) {
      refused_ = place;
      said_ = said;
    }
    return out;
  }

  void keep() {
    ++seen_;
    Layouts layouts;
    for (const tenon_format& f : formats_) layouts.push_back(f.layout);
    if (std::ranges::find(found_, layouts) == found_.end()) found_.push_back(std::move(layouts));
  }

  /// At the place that it refuses, dtypes that it takes in some layout there.
  Result<std::vector<std::string>> other_dtypes() {
    std::vector<std::string> out;
    for (int32_t d = TENON_F32; d <= TENON_F8E4M3; ++d) {
      if (!dtype_from_onnx(d) || static_cast<DType>(d) == DType::string || d == static_cast<int32_t>(places_[refused_].dtype)) continue;
      for (int32_t layout : {TENON_ROW_MAJOR, TENON_CHANNELS_LAST, TENON_STRIDED}) {
        std::vector<tenon_format> formats = formats_;
        formats[refused_] = {d, layout};
        std::string said;
        if (!TRY(object_.takes(static_cast<uint32_t>(refused_), formats, said))) continue;
        out.emplace_back(name_of(static_cast<DType>(d)));
        break;
      }
    }
    return out;
  }

  Error refusal() {
    const bool is_operand = refused_ < operands_;
    std::string what = fmt::format("it does not take {} for {} {}", name_of(places_[refused_].dtype), is_operand ? "operand" : "result",
                                   is_operand ? refused_ : refused_ - operands_);
    if (!said_.empty()) what += ": " + said_;
    auto others = other_dtypes();
    if (!others) return std::move(others).error();
    if (!others->empty()) what += fmt::format(" (it takes {} there)", fmt::join(*others, ", "));
    return object_.refusal(std::move(what)).expected(others->empty() ? "another case" : fmt::format("{}", fmt::join(*others, ", ")));
  }

  const Object& object_;
  std::span<const PortType> places_;
  size_t operands_;
  std::vector<tenon_format> formats_;
  std::vector<Layouts> found_;
  size_t asks_ = 0, seen_ = 0, refused_ = 0;
  std::string said_;
};

}  // namespace

Result<std::vector<Layouts>> formats_of(const Object& object, std::span<const PortType> places, size_t operands, size_t most) {
  return Search(object, places, operands).run(most);
}

Result<void> confirm_format(const Object& object, std::span<const PortType> places, const Layouts& layouts) {
  std::vector<tenon_format> formats;
  for (size_t k = 0; k < places.size(); ++k) formats.push_back({static_cast<int32_t>(places[k].dtype), layouts[k]});
  std::string said;
  for (uint32_t k = 0; k < formats.size(); ++k)
    if (!TRY(object.takes(k, formats, said)))
      return object.refusal(fmt::format("called again, `supports` refuses {} at place {}", name_of_layout(layouts[k]), k));
  return {};
}

std::string text_of_layouts(const Layouts& layouts, size_t operands) {
  if (std::ranges::all_of(layouts, [&](int32_t l) { return l == layouts[0]; })) return name_of_layout(layouts.empty() ? 0 : layouts[0]);
  std::string out;
  for (size_t k = 0; k < layouts.size(); ++k)
    out += fmt::format("{}{}", k == 0 ? "" : k == operands ? " -> " : ", ", name_of_layout(layouts[k]));
  return out;
}

}  // namespace tenon::plugin
