# SPDX-License-Identifier: Apache-2.0
"""The demo from end to end on three short files: the best passage is the right one, and ONNX Runtime agrees with every number."""

import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples/demo"))

import demo  # noqa: E402
import demo_engines  # noqa: E402


class Search(unittest.TestCase):
    def test_the_best_passage_is_the_right_one(self):
        with tempfile.TemporaryDirectory() as name, open("/dev/null", "w") as nowhere:
            run = demo.Demo(Console(file=nowhere), Path(__file__).parent / "texts", "How long does a loaf stay in the oven?", Path(name))
            run.read()
            run.compile()
            run.worker = run.start()
            for batch in range(len(run.batches)):
                run.worker.compute(batch)
            run.vectors = run.worker.embeddings(run.work / "tenon.npy")
            run.answer()
            graph = demo.graph_with_external_weights(run.work, run.model / "model.safetensors")
            peer = demo_engines.Worker(demo.PEERS, "onnxruntime", graph, run.work / "batches.npz", 1)
            for batch in range(len(run.batches)):
                peer.run(batch)
            theirs = peer.embeddings(run.work / "peer.npy")
            peer.close()
            run.worker.close()
        self.assertTrue(run.page.answers[0][1].startswith("bread.md"), run.page.answers)
        np.testing.assert_allclose(np.linalg.norm(run.vectors, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(run.vectors, theirs, atol=2e-6)


if __name__ == "__main__":
    unittest.main()
