// SPDX-License-Identifier: Apache-2.0
// Random graphs of common ops: the reference, the compiler without rewriting and the compiler with all of it agree.
// Which ones: seeds.h.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/reference/evaluate.h"
#include "random_graphs.h"
#include "seeds.h"

namespace tenon::compiler {
namespace {

/// One engine an optimisation level, run with several batches.
void check(uint64_t seed) {
  SCOPED_TRACE("TENON_SEED=" + std::to_string(seed));
  const auto graph = tests::RandomGraph(seed).grow(4 + seed % 14);
  const std::string text = ir::print(*graph);
  for (int opt : {0, 3}) {
    auto engine = testing::engine_of(graph->clone(), opt);
    ASSERT_TRUE(engine) << "opt " << opt << ": " << engine.error().text() << "\n" << text;
    auto context = runtime::Context::create(*engine);
    for (int64_t batch : {3, 1, 17}) {
      const auto inputs = tests::random_inputs(*graph, batch, seed);
      const auto want = ops::evaluate(*graph, inputs);
      ASSERT_TRUE(want) << want.error().text() << "\n" << text;
      const auto got = (*context)->run(inputs, tests::run_options());
      ASSERT_TRUE(got) << "opt " << opt << ": " << got.error().text() << "\n" << text;
      for (size_t k = 0; k < want->size(); ++k)
        ASSERT_EQ(testing::difference((*want)[k], (*got)[k], 20), "") << "opt " << opt << ", batch " << batch << ", result " << k << "\n"
                                                                      << text;
    }
  }
}

TEST(RandomGraphs, CompileToWhatTheReferenceSays) { tests::each_seed(150, check); }

}  // namespace
}  // namespace tenon::compiler
