# SPDX-License-Identifier: Apache-2.0
"""Writes transformers_table.h: probabilities after transformers' logits processors, in the order of its generate().

python make_table.py   in an environment with torch and transformers
"""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import LogitsProcessorList
from transformers.generation import logits_process as processors

LOGITS = [1.5, -0.25, 3.0, 0.0, 2.75, -4.0, 2.875, 1.0, -1.5, 2.0, 0.5, -0.75]
PROMPT = [2, 5, 9, 2]
# repetition penalty, temperature, top-k, top-p, min-p; the values that leave a step out are those of SamplingOptions
ROWS = [
    (1, 1, 0, 1, 0), (1.3, 1, 0, 1, 0), (1, 0.5, 0, 1, 0), (1, 2, 0, 1, 0), (1, 1, 1, 1, 0), (1, 1, 2, 1, 0), (1, 1, 5, 1, 0),
    (1, 1, 50, 1, 0), (1, 1, 0, 0.5, 0), (1, 1, 0, 0.9, 0), (1, 1, 0, 0.01, 0), (1, 1, 0, 1, 0.1), (1, 1, 0, 1, 0.9),
    (1.2, 0.7, 6, 0.8, 0.05), (0.8, 1.5, 8, 0.95, 0.2), (2, 0.3, 3, 0.6, 0.01), (1.1, 1.3, 10, 0.99, 0.02),
]  # fmt: skip


def probabilities(repetition: float, temperature: float, top_k: int, top_p: float, min_p: float) -> list[float]:
    chain = LogitsProcessorList()
    if repetition != 1:
        chain.append(processors.RepetitionPenaltyLogitsProcessor(float(repetition)))
    if temperature != 1:
        chain.append(processors.TemperatureLogitsWarper(float(temperature)))
    if top_k:
        chain.append(processors.TopKLogitsWarper(top_k))
    if top_p < 1:
        chain.append(processors.TopPLogitsWarper(top_p))
    if min_p:
        chain.append(processors.MinPLogitsWarper(min_p))
    scores = chain(torch.tensor([PROMPT]), torch.tensor([LOGITS], dtype=torch.float64))
    return torch.softmax(scores, -1)[0].tolist()


def main() -> None:
    lines = [f"    {{{{{', '.join(map(str, row))}}}, {{{', '.join(f'{p:.9g}' for p in probabilities(*row))}}}}}," for row in ROWS]
    text = f"""// SPDX-License-Identifier: Apache-2.0
// Written by make_table.py: probabilities after transformers' logits processors.
#pragma once
#include <array>
#include <cstdint>

namespace tenon::llm {{

inline constexpr std::array<float, {len(LOGITS)}> kLogits = {{{", ".join(map(str, LOGITS))}}};
inline constexpr std::array<int32_t, {len(PROMPT)}> kPrompt = {{{", ".join(map(str, PROMPT))}}};
struct TableRow {{
  struct {{
    double repetition, temperature, top_k, top_p, min_p;
  }} options;
  std::array<double, {len(LOGITS)}> probabilities;
}};
// clang-format off
inline constexpr TableRow kTable[] = {{
{chr(10).join(lines)}
}};
// clang-format on

}}  // namespace tenon::llm
"""
    (Path(__file__).resolve().parent / "transformers_table.h").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
