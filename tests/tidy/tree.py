"""The files of the repository, for the tidy tests, and how those tests are run."""
import argparse
import pathlib
import sys
import tempfile

SKIPPED = {".git", ".deps", "build", "node_modules", "__pycache__", "results"}
DEMO_MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"


def is_ours(path):
    return path.name not in SKIPPED and path.absolute() != DEMO_MODELS


def files(root, *suffixes):
    """Every file of ours below `root` with one of the suffixes (all files without any), sorted."""
    found = []
    for path in sorted(pathlib.Path(root).iterdir()):
        if not is_ours(path):
            continue
        if path.is_dir() and not path.is_symlink():
            found += files(path, *suffixes)
        elif path.is_file() and (not suffixes or path.name.endswith(suffixes)):
            found.append(path)
    return found


def folders(root):
    """The folders of ours right below `root`, sorted."""
    return [path for path in sorted(pathlib.Path(root).iterdir())
            if path.is_dir() and is_ours(path)]


def sources(root, folders):
    """(path below `root`, text) of each C++ file in these of its folders."""
    for file in files(root, ".h", ".cc"):
        path = file.relative_to(root)
        if path.parts[0] in folders:
            yield path, file.read_text()


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


class Planted:
    """A temporary tree with the given files, for a self-test."""

    def __init__(self, **contents):
        self.contents = contents

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        for name, text in self.contents.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    def __exit__(self, *unused):
        self.folder.cleanup()


def expect(check, contents, *wanted):
    """Asserts that `check` of a tree with `contents` complains of exactly the wanted texts."""
    with Planted(**contents) as root:
        found = check(root)
    assert len(found) == len(wanted), f"expected {wanted}, got {found}"
    for text, complaint in zip(wanted, found):
        assert text in complaint, f"expected {text!r} in {complaint!r}"


def main(check, self_test, switches=None, **extra):
    """Runs check(root) or the self-test, prints the complaints and returns the exit status.

    `switches` and `extra`: {name: help} of options without and with a value, for check().
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true")
    for name, text in (switches or {}).items():
        parser.add_argument("--" + name, action="store_true", help=text)
    for name, text in extra.items():
        parser.add_argument("--" + name.replace("_", "-"), help=text)
    options = vars(parser.parse_args())
    root = pathlib.Path(options.pop("root"))
    if options.pop("self_test"):
        self_test()
        print("the self-test passed")
        return 0
    given = {name: value for name, value in options.items() if value is not None}
    complaints = check(root, **given)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"{len(complaints)} complaints")
    return 1 if complaints else 0
