// SPDX-License-Identifier: Apache-2.0
#include "ir/module_path.h"

#include <algorithm>
#include <vector>

namespace tenon::ir {

namespace {

/// PyTorch's exporter stores the module path of a node: "['', 'encoder', 'encoder.layer.0', 'linear_3']"; the last entry is the node
/// itself.
std::string module_by_exporter(const Provenance& provenance) {
  for (const auto& [key, value] : provenance.metadata) {
    if (key != "pkg.torch.onnx.name_scopes") continue;
    std::vector<std::string> scopes;
    for (size_t begin = value.find('\''); begin != value.npos; begin = value.find('\'', begin)) {
      const size_t end = std::min(value.find('\'', begin + 1), value.size());
      scopes.push_back(value.substr(begin + 1, end - begin - 1));
      begin = std::min(end + 1, value.size());
    }
    if (scopes.size() < 2) return {};
    std::string& scope = scopes[scopes.size() - 2];
    std::ranges::replace(scope, '.', '/');
    return scope;
  }
  return {};
}

/// "/encoder/layer.0/MatMul" is in "encoder/layer.0".
std::string_view module_by_name(std::string_view name) {
  while (name.starts_with('/')) name.remove_prefix(1);
  const size_t end = name.rfind('/');
  return end == name.npos ? std::string_view{} : name.substr(0, end);
}

/// The common prefix of two module paths.
std::string_view common_module(std::string_view a, std::string_view b) {
  const size_t same = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  if (same == a.size() && (same == b.size() || b[same] == '/')) return a;
  if (same == b.size() && a[same] == '/') return b;
  const size_t end = a.substr(0, same).rfind('/');
  return end == a.npos ? std::string_view{} : a.substr(0, end);
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> out;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find_first_of("/.", begin), path.size());
    if (end > begin) out.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string module_of(const Node& node) {
  if (!node.provenance) return std::string(module_by_name(node.name));
  if (std::string module = module_by_exporter(*node.provenance); !module.empty()) return module;
  if (node.provenance->sources.empty()) return std::string(module_by_name(node.name));
  std::string_view module = module_by_name(node.provenance->sources[0]);
  for (const std::string& source : node.provenance->sources) module = common_module(module, module_by_name(source));
  return std::string(module);
}

bool is_in_module(std::string_view module, std::string_view prefix) {
  const std::vector<std::string_view> all = components(module), first = components(prefix);
  return !first.empty() && first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin());
}

size_t module_depth(std::string_view path) { return components(path).size(); }

}  // namespace tenon::ir
