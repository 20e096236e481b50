# SPDX-License-Identifier: Apache-2.0
"""tools/check/words.py finds identifiers with words that say nothing of a thing."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/check"))

import words  # noqa: E402


def found(path: str, text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / path
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        return words.bad_names(Path(name))


class Words(unittest.TestCase):
    def test_names_are_split_into_their_words(self):
        self.assertEqual(words.parts_of("run_toldSizes_"), ["run", "told", "sizes"])
        self.assertEqual(words.parts_of("HTMLDoor2"), ["html", "door", "2"])
        self.assertIsNone(words.bad_part("wishbone"), "a part is a whole word")

    def test_every_word_is_found_and_has_a_proposal(self):
        for word, proposal in words.PARTS.items():
            for name in (f"is_{word}", f"{word.capitalize()}Map", f"k{word.capitalize()}", f"{word}_"):
                (message,) = found("src/a.cpp", f"int x;\nint {name};\n")
                self.assertEqual(message, f"src/a.cpp:2: identifier '{name}' has '{word}': {proposal}")

    def test_python_names(self):
        (message,) = found("python/tenon/a.py", '"""What is told."""\n\ndef f(door):  # a wish\n    return "door"\n')
        self.assertIn("python/tenon/a.py:3: identifier 'door' has 'door'", message)

    def test_comments_and_texts_are_no_identifiers(self):
        text = '// told\n/* behind\n * a wish */\nauto a = "told"; auto b = R"x(door)x"; auto c = 1\'000; char d = \'"\'; int told;\n'
        self.assertEqual([m.split(": ")[0] for m in found("src/a.cpp", text)], ["src/a.cpp:4"])
        self.assertEqual(found("src/a.cpp", text.replace("int told;", "")), [])

    def test_files_are_named_too(self):
        (message,) = found("tests/base/front_door.cpp", "")
        self.assertIn("tests/base/front_door.cpp: the file's name has 'door'", message)


if __name__ == "__main__":
    unittest.main()
