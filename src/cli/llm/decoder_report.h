// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/bench/figures.h"
#include "cli/llm/decoder_runs.h"

namespace tenon::cli {

class Console;
class Peer;

/// The statistics of a work's samples. Times are of the whole work.
struct DecoderRow {
  DecoderWork work;
  BenchFigures figures;  ///< without the samples
  size_t kept = 0;       ///< number of samples that the statistics use
};

/// "prefill 128", "decode 128 behind 4096, batch 4".
std::string text_of(const DecoderWork& work);

/// Prints a row for each work. peer: null where there is none.
void report_decoder(const std::vector<DecoderRow>& rows, const Peer* peer, Console& console);
/// A row as JSON.
nlohmann::ordered_json data_of(const DecoderRow& row, const Peer* peer);

}  // namespace tenon::cli
