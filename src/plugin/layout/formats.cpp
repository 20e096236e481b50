// SPDX-License-Identifier: Apache-2.0
#include "plugin/layout/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/dtype.h"

namespace tenon::plugin {

namespace {

constexpr size_t kMaxCallsPerPlace = 64;  ///< of `supports`; a search stops after so many

class FormatSearch {
 public:
  FormatSearch(const Object& object, std::span<const PortType> places, size_t operands)
      : object_(object), places_(places), operands_(operands) {
    for (const PortType& p : places) formats_.push_back({static_cast<int32_t>(p.dtype), TENON_ROW_MAJOR});
  }

  Result<std::vector<Layouts>> run(size_t most) {
    TRY(find(0, TENON_ROW_MAJOR, 1));
    if (found_.empty()) return refusal();
    if (most > 1) TRY(find(0, TENON_CHANNELS_LAST, 1));
    if (most > 2) TRY(find(0, TENON_ROW_MAJOR, most));
    return std::move(found_);
  }

 private:
  /// Finds combinations for the places from `place` on, the preferred layout first, until `count` were reached; known ones count too.
  Result<void> find(size_t place, int32_t preferred, size_t count) {
    calls_ = 0;
    reached_ = 0;
    return search(place, preferred, count);
  }

  Result<void> search(size_t place, int32_t preferred, size_t count) {
    if (place == places_.size()) {
      add_found();
      return {};
    }
    bool is_row_major = false;
    for (int32_t layout : candidates(place, preferred)) {
      if (reached_ >= count || calls_ >= kMaxCallsPerPlace * (places_.size() + 1)) break;
      if (layout == TENON_STRIDED && is_row_major) continue;  // the same memory with an explicit description
      formats_[place].layout = layout;
      if (!TRY(takes(place))) continue;
      is_row_major |= layout == TENON_ROW_MAJOR;
      TRY(search(place + 1, preferred, count));
    }
    formats_[place].layout = TENON_ROW_MAJOR;
    return {};
  }

  std::vector<int32_t> candidates(size_t place, int32_t preferred) const {
    const PortType& p = places_[place];
    if (p.dtype == DType::none) return {TENON_ROW_MAJOR};
    if (p.rank < 0) return {TENON_ROW_MAJOR, TENON_STRIDED};
    if (preferred == TENON_CHANNELS_LAST && p.rank > 2) return {TENON_CHANNELS_LAST, TENON_ROW_MAJOR, TENON_STRIDED};
    return {TENON_ROW_MAJOR, TENON_STRIDED, TENON_CHANNELS_LAST};
  }

  Result<bool> takes(size_t place) {
    ++calls_;
    std::string reason;
    const bool out = TRY(object_.takes(static_cast<uint32_t>(place), formats_, reason));
    if (!out && place >= refused_place_) {
      refused_place_ = place;
      reason_ = reason;
    }
    return out;
  }

  void add_found() {
    ++reached_;
    Layouts layouts;
    for (const tenon_format& f : formats_) layouts.push_back(f.layout);
    if (std::ranges::find(found_, layouts) == found_.end()) found_.push_back(std::move(layouts));
  }

  /// The dtypes that the object supports, in some layout, at the place that it refuses.
  Result<std::vector<std::string>> other_dtypes() {
    std::vector<std::string> out;
    for (int32_t d = TENON_F32; d <= TENON_F8E4M3; ++d) {
      if (!dtype_from_onnx(d) || static_cast<DType>(d) == DType::string || d == static_cast<int32_t>(places_[refused_place_].dtype))
        continue;
      for (int32_t layout : {TENON_ROW_MAJOR, TENON_CHANNELS_LAST, TENON_STRIDED}) {
        std::vector<tenon_format> formats = formats_;
        formats[refused_place_] = {d, layout};
        std::string reason;
        if (!TRY(object_.takes(static_cast<uint32_t>(refused_place_), formats, reason))) continue;
        out.emplace_back(name_of(static_cast<DType>(d)));
        break;
      }
    }
    return out;
  }

  Error refusal() {
    const bool is_operand = refused_place_ < operands_;
    std::string what = fmt::format("it does not take {} for {} {}", name_of(places_[refused_place_].dtype),
                                   is_operand ? "operand" : "result", is_operand ? refused_place_ : refused_place_ - operands_);
    if (!reason_.empty()) what += ": " + reason_;
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
  size_t calls_ = 0, reached_ = 0, refused_place_ = 0;
  std::string reason_;
};

}  // namespace

Result<std::vector<Layouts>> formats_of(const Object& object, std::span<const PortType> places, size_t operands, size_t most) {
  return FormatSearch(object, places, operands).run(most);
}

Result<void> confirm_format(const Object& object, std::span<const PortType> places, const Layouts& layouts) {
  std::vector<tenon_format> formats;
  for (size_t k = 0; k < places.size(); ++k) formats.push_back({static_cast<int32_t>(places[k].dtype), layouts[k]});
  std::string reason;
  for (uint32_t k = 0; k < formats.size(); ++k)
    if (!TRY(object.takes(k, formats, reason)))
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
