// SPDX-License-Identifier: Apache-2.0
#include "import/external_files.h"

#include <set>
#include <string_view>

#include "files/mapped_file.h"
#include "import/onnx_model.h"

namespace tenon::import {
namespace {

class Locations {
 public:
  void add(const OnnxGraph& graph) {
    for (const OnnxTensor& t : graph.initializers) add(t);
    for (const OnnxSparse& s : graph.sparse_initializers) add(s);
    for (const OnnxNode& n : graph.nodes) add(n.attributes);
  }
  void add(const OnnxFunction& function) {
    add(function.defaults);
    for (const OnnxNode& n : function.nodes) add(n.attributes);
  }
  const std::set<std::string_view>& all() const { return all_; }

 private:
  void add(const OnnxTensor& tensor) {
    if (!tensor.external) return;
    for (const auto& [key, value] : tensor.entries)
      if (key == "location") all_.insert(value);
  }
  void add(const OnnxSparse& sparse) {
    add(sparse.values);
    add(sparse.indices);
  }
  void add(const std::vector<OnnxAttribute>& attributes) {
    for (const OnnxAttribute& a : attributes) {
      if (a.tensor) add(*a.tensor);
      if (a.sparse) add(*a.sparse);
      if (a.graph) add(*a.graph);
    }
  }

  std::set<std::string_view> all_;
};

}  // namespace

Result<std::vector<std::filesystem::path>> external_files(const std::filesystem::path& model, const std::filesystem::path& folder) {
  const auto file = TRY(files::MappedFile::open(model));
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes().data()), file->size());
  const OnnxModel parsed = TRY(parse_onnx(bytes, model.string(), {}));
  Locations locations;
  locations.add(parsed.graph);
  for (const OnnxFunction& f : parsed.functions) locations.add(f);
  std::vector<std::filesystem::path> out;
  for (std::string_view location : locations.all()) out.push_back((folder.empty() ? model.parent_path() : folder) / location);
  return out;
}

}  // namespace tenon::import
