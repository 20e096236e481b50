// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/recurrent/layer.h"

namespace tenon::ops {

/// Gates in the order of W, R and B.
enum LstmGate : int64_t { kInputGate, kOutputGate, kForgetGate, kCellGate };

inline constexpr std::string_view kLstmActivations[] = {"Sigmoid", "Tanh", "Tanh"};

/// The next h and c of an LSTM.
std::vector<ir::ValueId> define_lstm_step(const CellStep& cell);

}  // namespace tenon::ops
