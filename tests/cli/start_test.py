# SPDX-License-Identifier: Apache-2.0
"""What each start of the program waits for."""

import subprocess
import unittest

from small_models import TENON


class Start(unittest.TestCase):
    def test_no_shared_library_of_llvm_is_loaded(self):
        loaded = subprocess.run(["ldd", TENON], capture_output=True, text=True, check=True).stdout
        self.assertIn("libc.so", loaded)
        self.assertNotIn("LLVM", loaded)


if __name__ == "__main__":
    unittest.main()
