// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace tenon::rules {

/// Ops that treat every element of operand 0 alike, independent of the others; further operands are scalars (Clip's bounds).
inline constexpr std::string_view kUnaryOps =
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cast Ceil Celu Clip Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity "
    "IsInf IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh "
    "ThresholdedRelu";
/// Ops of two operands that broadcast and treat every pair of elements alike (Max and Min may have more operands).
inline constexpr std::string_view kBinaryOps = "Add Sub Mul Div Pow Max Min And Or Xor Equal Less LessOrEqual Greater GreaterOrEqual";
/// Further ops that broadcast all their operands and treat elements alike.
inline constexpr std::string_view kBroadcastOps = "BitShift BitwiseAnd BitwiseOr BitwiseXor Mean Mod PRelu Sum Where";

bool is_unary(const ir::Node& node);
/// With exactly two operands, both there.
bool is_binary(const ir::Node& node);
/// Any of them: each element of the result comes of the elements at its place, operands repeated where they broadcast.
bool is_elementwise(const ir::Node& node);

}  // namespace tenon::rules
