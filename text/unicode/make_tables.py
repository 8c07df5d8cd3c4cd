#!/usr/bin/env python3
"""Writes tables.inc: what the library `tokenizers` believes of each character.

Every table is found by asking that library, character by character. It has parts of several
versions of Unicode, and an id must be the one that a model was trained with.

Run with: pip install tokenizers==0.23.3; text/unicode/make_tables.py > text/unicode/tables.inc
"""
import unicodedata

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

VERSION = "0.23.3"
ALL = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)
BLOCK = 64   # characters of a block
GROUP = 128  # blocks of a group

FLAGS = ["Space", "Control", "Punctuation", "Ideograph", "NonspacingMark", "Mark", "Word", "Letter",
         "Number", "PatternSpace", "HasLower", "HasCanonical", "HasCompatibility", "HasOrder"]
CLASSES = ["Other", "Control", "Cr", "Lf", "Extend", "ConjunctExtend", "Linker", "Joiner",
           "Prepend", "SpacingMark", "HangulL", "HangulV", "HangulT", "HangulLv", "HangulLvt",
           "Pictograph", "Consonant"]


def bert(**on):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False,
                   lowercase=False)
    return normalizers.BertNormalizer(**{**options, **on}).normalize_str


def splits(pre_tokenizer):
    """Whether a character between two letters is cut off from them."""
    return {c for c in ALL if len(pre_tokenizer.pre_tokenize_str(f"a{c}a")) > 1}


def pattern(text):
    split = pre_tokenizers.Split(Regex(text), "removed")
    return {c for c in ALL if not split.pre_tokenize_str(c)}


def word_characters():
    """Those beside which an added token that must be a word of its own is none."""
    tokenizer = Tokenizer(models.WordLevel({"?": 0, "QX": 1}, unk_token="?"))
    tokenizer.add_tokens([AddedToken("QX", single_word=True, normalized=False)])
    return {c for c in ALL if 1 not in tokenizer.encode(c + "QX").ids}


def order_classes():
    """{character: its canonical combining class}, by which marks change places."""
    nfd = normalizers.NFD().normalize_str

    def swaps(a, b):
        return a != b and nfd(a + b) == b + a

    low, high = "\u0334", "\u0345"  # of the classes 1 and 240, the first and the last
    ordered = [c for c in ALL if nfd(c) == c and (swaps(c, low) or swaps(high, c) or c == low)]
    marks = {unicodedata.combining(c): c for c in reversed(ordered) if unicodedata.combining(c)}
    classes = {}
    for c in ordered:
        equal = [k for k, mark in marks.items() if not swaps(mark, c) and not swaps(c, mark)]
        assert len(equal) == 1, (hex(ord(c)), equal)
        classes[c] = equal[0]
    return classes


def grapheme_probe():
    """Counts replacements: one for a grapheme of under 6 bytes, else one for each character.

    The trie of this charsmap has every single byte as a key.
    """
    units = [0] * 1024
    units[0] = 256 << 10
    for byte in range(1, 256):
        units[256 ^ byte] = byte | 1 << 8 | 512 << 10
        units[256 ^ byte ^ 512] = 1 << 31  # a leaf, whose value is 0
    blob = b"".join(unit.to_bytes(4, "little") for unit in units)
    normalize = normalizers.Precompiled(len(blob).to_bytes(4, "little") + blob + b"!\0").normalize_str
    return lambda text: len(normalize(text))


def grapheme_class(count, c):
    accent, smile, ka, virama = "\u0308", "\u263a", "\u0915", "\u094d"
    if c in "\r\n":
        return "Cr" if c == "\r" else "Lf"
    if c == "\u200d":
        return "Joiner"
    if count(c + accent + accent) == 2:
        return "Control"
    if count("a" + c) == 1:
        if count(ka + c + ka + accent) == 4:
            return "Linker"
        if count(ka + c + virama + ka + accent) == 5:
            return "ConjunctExtend"
        return "Extend" if count(smile + c + "\u200d" + smile + accent) == 5 else "SpacingMark"
    if count(c + "a") == 1:
        return "Prepend"
    if count(c + "\u200d" + smile + accent) == 4:
        return "Pictograph"
    if count(c + virama + ka + accent) == 4:
        return "Consonant"
    return hangul_class(count, c)


def hangul_class(count, c):
    if len(c.encode()) != 3:
        return "Other"
    after = tuple(count(x + c + "\u0308") == 3 for x in "\u1100\u1161\u11a8")
    if after == (True, True, False):
        return "HangulV"
    if after == (False, True, True):
        return "HangulT"
    if after != (True, False, False):
        return "Other"
    if count(c + "\u1100\u0308") == 3:
        return "HangulL"
    return "HangulLv" if count(c + "\u1161\u0308") == 3 else "HangulLvt"


def find_flags(tables):
    clean = bert(clean_text=True)
    strip = bert(strip_accents=True)
    control = {c for c in ALL if clean(c) == ""}
    space = splits(pre_tokenizers.WhitespaceSplit())
    assert {c for c in ALL if clean(c) == " "} == space - control
    chinese = bert(handle_chinese_chars=True)
    accents = normalizers.StripAccents().normalize_str
    return {
        "Space": space,
        "Control": control,
        "Punctuation": splits(pre_tokenizers.BertPreTokenizer()) - space,
        "Ideograph": {c for c in ALL if chinese(c) != c},
        "NonspacingMark": {c for c in ALL if strip(c) == ""},
        "Mark": {c for c in ALL if accents(c) == ""},
        "Word": word_characters(),
        "Letter": pattern(r"\p{L}"),
        "Number": pattern(r"\p{N}"),
        "PatternSpace": pattern(r"\s"),
        "HasLower": set(tables["lower"]),
        "HasCanonical": set(tables["canonical"]),
        "HasCompatibility": set(tables["compatibility"]),
        "HasOrder": set(tables["order"]),
    }


def find_tables():
    lower, nfd, nfkd, nfc = (n.normalize_str for n in (
        normalizers.Lowercase(), normalizers.NFD(), normalizers.NFKD(), normalizers.NFC()))
    some = [c for c in ALL if ord(c) not in HANGUL]
    canonical = {c: nfd(c) for c in some if nfd(c) != c}
    pairs = {}
    for c, parts in canonical.items():
        if nfc(c) == c:
            first = nfc(parts[:-1])
            assert len(first) == 1 and nfc(first + parts[-1]) == c
            pairs[first + parts[-1]] = c
    return {
        "lower": {c: lower(c) for c in ALL if lower(c) != c},
        "canonical": canonical,
        "compatibility": {c: nfkd(c) for c in some if nfkd(c) != nfd(c)},
        "pairs": pairs,
        "order": order_classes(),
    }


def print_rows(entries):
    row = ""
    for entry in entries:
        if len(row) + len(entry) + 1 > 98:
            print(" ", row.strip())
            row = ""
        row += entry + " "
    print(" ", row.strip())
    print("};")


def print_numbers(kind, name, numbers):
    print(f"constexpr {kind} {name}[] = {{")
    print_rows([f"{n}," for n in numbers])


def print_traits(flags):
    """Three stages: a group of blocks, a block of characters, and the traits of its letter."""
    count = grapheme_probe()
    traits = [0] * 0x110000
    for c in ALL:
        traits[ord(c)] = CLASSES.index(grapheme_class(count, c)) << len(FLAGS)
    for bit, name in enumerate(FLAGS):
        for c in flags[name]:
            traits[ord(c)] |= 1 << bit
    kinds = sorted(set(traits))
    letters = [chr(c) for c in range(35, 127) if chr(c) != "\\"][:len(kinds)]
    assert len(letters) == len(kinds), len(kinds)
    letter_of = dict(zip(kinds, letters))
    blocks, groups, stage = {}, {}, []
    indices = []
    for start in range(0, 0x110000, BLOCK):
        block = "".join(letter_of[t] for t in traits[start:start + BLOCK])
        indices.append(blocks.setdefault(block, len(blocks)))
    for start in range(0, len(indices), GROUP):
        stage.append(groups.setdefault(tuple(indices[start:start + GROUP]), len(groups)))
    print(f"constexpr char kBlocks[][{BLOCK + 1}] = {{")
    print_rows([f'"{block}",' for block in blocks])
    print(f"constexpr uint16_t kGroups[][{GROUP}] = {{")
    for group in groups:
        print("  {", end="")
        print(", ".join(map(str, group)) + "},")
    print("};")
    print_numbers("uint8_t", "kStages", stage)
    print(f"constexpr char kFirstLetter = '{letters[0]}';")
    by_letter = [kinds[letters.index(chr(c))] if chr(c) in letters else 0
                 for c in range(ord(letters[0]), ord(letters[-1]) + 1)]
    print_numbers("uint32_t", "kTraits", by_letter)


def print_mapping(name, mapping):
    """Sorted rows of a character and what it becomes, at most 18 characters."""
    print(f"constexpr Mapping k{name}[] = {{")
    rows = []
    for c, text in sorted(mapping.items()):
        escaped = "".join(f"\\U{ord(t):08x}" if ord(t) > 0xFFFF else f"\\u{ord(t):04x}"
                          if ord(t) > 0x9F else f"\\x{ord(t):x}" for t in text)
        rows.append(f'{{0x{ord(c):x}, U"{escaped}"}},')
    print_rows(rows)


def print_runs(classes):
    runs = []
    for c, order in sorted(classes.items()):
        if runs and runs[-1][1] == ord(c) - 1 and runs[-1][2] == order:
            runs[-1][1] = ord(c)
        else:
            runs.append([ord(c), ord(c), order])
    print("constexpr OrderRun kOrders[] = {")
    print_rows([f"{{0x{a:x}, 0x{b:x}, {order}}}," for a, b, order in runs])


def main():
    assert tokenizers.__version__ == VERSION, f"tokenizers {VERSION} is needed"
    print(f"// Written by make_tables.py from tokenizers {VERSION}.")
    tables = find_tables()
    print_traits(find_flags(tables))
    for name in ("lower", "canonical", "compatibility"):
        print_mapping(name.capitalize(), tables[name])
    print("constexpr Pair kPairs[] = {")
    print_rows([f"{{0x{ord(p[0]):x}, 0x{ord(p[1]):x}, 0x{ord(c):x}}},"
                for p, c in sorted(tables["pairs"].items())])
    print_runs(tables["order"])


if __name__ == "__main__":
    main()
