// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

namespace CLI {
class App;
}

namespace tenon::cli {

/// Groups of options that --help leaves to --help-all.
inline constexpr std::string_view kBackendOptions = "Backends", kPluginOptions = "Plugins", kDebugOptions = "Debugging";

inline bool is_rare(std::string_view group) {
  constexpr std::array kRare{kBackendOptions, kPluginOptions, kDebugOptions};
  return std::ranges::find(kRare, group) != kRare.end();
}

/// Puts options of the verb into a group.
void group_options(CLI::App& verb, std::string_view group, std::initializer_list<const char*> names);

}  // namespace tenon::cli
