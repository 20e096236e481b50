// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

// One graph for each op that computes or passes shape data, over integers at the limits of sizes and of their dtypes.
namespace tenon::testing {

/// c and s contain an edge number; s1 is that number plus one.
inline const std::vector<std::string> kOneOp = {
    "y = Identity(c)",
    "y = Neg(c)",
    "y = Add(c, c)",
    "y = Add(c, one)",
    "y = Sub(c, one)",
    "y = Sub(one, c)",
    "y = Mul(c, c)",
    "y = Mul(c, minus)",
    "y = Div(c, minus)",
    "y = Div(c, one)",
    "y = Div(c, c)",
    "y = Mod(c, three)",
    "y = Mod(three, c)",
    "y = Min(c, one)",
    "y = Max(c, one)",
    "y = Equal(c, s)",
    "y = Less(c, s)",
    "y = LessOrEqual(c, s)",
    "y = Greater(c, s)",
    "y = GreaterOrEqual(c, s)",
    "y = Concat(c, c, axis=0)",
    "y = Gather(c, index, axis=0)",
    "y = Slice(c, zero, two)",
    "y, z = Split(c, axis=0, num_outputs=2)",
    "y = Unsqueeze(c, zero)",
    "u = Unsqueeze(c, zero)\n y = Squeeze(u, zero)",
    "u = Unsqueeze(c, zero)\n y = Transpose(u, perm=[1,0])",
    "y = Reshape(c, rows)",
    "y = Expand(c, rows)",
    "y = Clip(c, s, s)",
    "y = Clip(c, s, _)",
    "y = Clip(c, _, s)",
    "y = Where(mask, c, one)",
    "y = Cast(c, to=7)",
    "y = Cast(c, to=6)",
    "y = Cast(c, to=9)",
    "f = Cast(c, to=11)\n y = Cast(f, to=9)",
    "y = Range(s, s, one0)",
    "y = Range(s, s1, one0)",
    "a = Add(c, one)\n b = Sub(a, c)\n y = Mul(b, c)",
};

inline std::string number(int64_t v) { return std::to_string(v); }

/// The graph for a dtype and an edge number. known: operands are constants; else inputs of the graph.
inline std::string text_of(const std::string& dtype, int64_t edge, const std::string& ops) {
  const std::string results = ops.find("z =") == ops.npos && ops.find("y, z") != ops.npos ? "y, z" : "y";
  const int64_t most = dtype == "i32" ? INT32_MAX : INT64_MAX, next = edge == most ? edge : edge + 1;
  return "graph main(x: f32[n]) {\n const c: " + dtype + "[2] = [" + number(edge) + ", 5]\n const s: " + dtype + "[] = " + number(edge) +
         "\n const s1: " + dtype + "[] = " + number(next) + "\n const one: " + dtype + "[1] = [1]\n const one0: " + dtype +
         "[] = 1\n const minus: " + dtype + "[1] = [-1]\n const three: " + dtype +
         "[1] = [3]\n const zero: i64[1] = [0]\n const two: i64[1] = [2]\n const index: i64[3] = [0, 1, 0]\n"
         " const rows: i64[2] = [1, 2]\n const mask: bool[2] = [1, 0]\n " +
         ops + "\n return " + results + "\n}\n";
}

}  // namespace tenon::testing
