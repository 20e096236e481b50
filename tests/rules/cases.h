// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "ir/graph.h"
#include "rewrite/driver/driver.h"
#include "rules/registry/registry.h"

namespace tenon::tests {

/// A case of a file *.tn; run.cpp describes the format.
struct Case {
  std::string file, name, rules = {}, assumes = {}, in = {}, out = {};
  bool same = false;
  rewrite::Numerics numerics = rewrite::Numerics::reassociating;
};

/// stage: the first folder of its path.
inline std::vector<Case> read_cases(const std::filesystem::path& path, const std::filesystem::path& stage) {
  std::ifstream file(path);
  std::vector<Case> cases;
  std::string* into = nullptr;
  for (std::string line; std::getline(file, line);) {
    const auto starts = [&](std::string_view key) { return line.starts_with(key); };
    if (starts("#")) continue;
    if (starts("case:")) {
      cases.push_back({.file = stage / path.stem(), .name = line.substr(6)});
      into = nullptr;
    } else if (starts("rules:")) {
      cases.back().rules = line.substr(7);
    } else if (starts("numerics: approximate")) {
      cases.back().numerics = rewrite::Numerics::approximate;
    } else if (starts("assumes:")) {
      cases.back().assumes = line.substr(9);
    } else if (starts("in:")) {
      into = &cases.back().in;
    } else if (starts("out:")) {
      into = &cases.back().out;
    } else if (starts("same:")) {
      cases.back().same = true;
      into = nullptr;
    } else if (into) {
      *into += line + "\n";
    }
  }
  return cases;
}

/// Those of every file below `folder`, sorted by path.
inline std::vector<Case> all_cases(const std::filesystem::path& folder) {
  std::vector<Case> out;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".tn") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    for (Case& c : read_cases(file, *std::filesystem::relative(file, folder).begin())) out.push_back(std::move(c));
  return out;
}

inline Tensor draw(DType dtype, const Sizes& shape, std::mt19937& random) {
  Tensor t = *Tensor::make(dtype, shape);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.count(); ++i) {
    if (is_float(dtype)) t.set_number(i, normal(random));
    else t.set_integer(i, static_cast<int64_t>(random() % 2));
  }
  return t;
}

/// Inputs for both graphs, symbols drawn once.
inline std::vector<Tensor> draw_inputs(const ir::Graph& graph, std::mt19937& random) {
  std::map<std::string, int64_t> sizes;
  std::vector<Tensor> inputs;
  for (ir::ValueId id : graph.inputs()) {
    Sizes shape;
    for (Dim d : *graph.value(id).type.shape) {
      if (!d.is_number() && !sizes.contains(d.text())) sizes[d.text()] = 1 + static_cast<int64_t>(random() % 5);
      shape.push_back(d.is_number() ? d.value() : sizes[d.text()]);
    }
    inputs.push_back(draw(graph.value(id).type.dtype, shape, random));
  }
  return inputs;
}

inline std::vector<const rewrite::Rule*> named(const std::string& names) {
  std::vector<const rewrite::Rule*> out;
  std::stringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    const auto found = rules::rules_named(name);
    EXPECT_FALSE(found.empty()) << "no rule and no file of rules is named " << name;
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

/// Does some op draw its result?
inline bool is_random(const ir::Graph& graph) {
  for (ir::NodeId node : graph.nodes())
    if (!graph.node(node).op->deterministic) return true;
  return false;
}

/// A name that gtest takes.
inline std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.file + "_" + info.param.name;
  for (char& ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
  return name + "_" + std::to_string(info.index);
}

}  // namespace tenon::tests
