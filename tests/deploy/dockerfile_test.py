#!/usr/bin/env python3
"""`./run setup` finds all that it reads among what Dockerfile.dev copies before it runs it."""
import unittest

import bare_run


def copies_before_setup():
    """[[SOURCE..., TARGET]] of each COPY above `RUN ./run setup`."""
    above, found, _ = (bare_run.ROOT / "Dockerfile.dev").read_text().partition("\nRUN ./run setup\n")
    assert found, "Dockerfile.dev does not run setup"
    return [line.split()[1:] for line in above.splitlines() if line.startswith("COPY ")]


class Dockerfile(unittest.TestCase):
    def test_setup_finds_what_it_reads(self):
        self.assertEqual(bare_run.run(copies_before_setup(), "setup")[0], "")

    def test_every_copy_is_needed(self):
        """It also shows that a file which is not copied is missed."""
        copies = copies_before_setup()
        for i, (*sources, target) in enumerate(copies):
            for source in sources:
                rest = [kept for kept in sources if kept != source]
                fewer = copies[:i] + ([[*rest, target]] if rest else []) + copies[i + 1:]
                with self.subTest(left_out=source):
                    self.assertNotEqual(bare_run.run(fewer, "setup")[0], "",
                                        f"setup does not read {source}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
