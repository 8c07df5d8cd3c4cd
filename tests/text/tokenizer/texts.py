"""Texts for the comparison with the library `tokenizers`: every character, and many scripts."""
import functools
import random
import unicodedata

ALL = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
# What tokenizers treat in a way of its own, or once treated wrongly.
TRICKY = [
    "", " ", "  ", "\t\n \r\n", "Hello, World!", "don't can't I'm we'll they've 'S 'T '\u017f",
    "Stra\u00dfe STRASSE \u1e9e \u0130stanbul \u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3",
    "\ud55c\uad6d\uc5b4 \uac01 \u1112\u1161\u11ab", "\u4e2d\u56fd\u4eba and \u65e5\u672c\u8a9emixed\u4e2dwith",
    "a\u0301\u0323 a\u0323\u0301 \u302e\u302f\u302a", "\U0001d15e\U0001d165\U0001d16d \U0001d157\u0301",
    "\ufb01ne \u00b2 \u00bd \u2116 \uff26\uff35\uff2c\uff2c \u3000wide", "control\x00chars\x07here\u200bzero\u00adwidth",
    "\U0001f600 \U0001f469\u200d\U0001f4bb \U0001f1e9\U0001f1ea \u00a9\u200d\u00ae \u263a\u200d\u263a\u0308",
    "a" * 100 + " " + "b" * 101 + " " + "\u00e9" * 100 + " " + "e\u0301" * 100, "word " * 300,
    "[MASK] [SEP] x[CLS]y <mask> <s></s> <pad>", "  [MASK]  <mask>  lo  ", "12345 1,234.56 \u0661\u0662\u0663",
    "#include <a.h>\n\tint main() { return 0; }\n\n\n", "x\u00a0y\u2003z\u2028w\x85v\x0bu\x0ct", "''''\"\"``--...",
    "\u0915\u094d\u0937\u093f \u0e33\u0e01 \u0600\u0661 \r\n\r \u200d\u200d", "\u2581 \u2581a \u2581\u2581 a\u2581b",
]


@functools.cache
def blocks():
    """Runs of characters that Unicode has assigned: roughly one for each script."""
    names = {}
    for c in ALL:
        name = unicodedata.name(c, "")
        if name:
            names.setdefault(name.split()[0], []).append(c)
    return [chars for _, chars in sorted(names.items()) if len(chars) >= 12]


def every_character():
    """Each character between letters; those of most scripts with marks and signs too."""
    for start in range(0, len(ALL), 64):
        yield "a".join(ALL[start:start + 64])
    for c in ALL[:0x3100]:
        yield f"b{c}b {c} x{c}\u0308\u0301{c} '{c}"


def runs():
    """All characters, each beside its neighbours."""
    for start in range(0, len(ALL), 16):
        yield "".join(ALL[start:start + 16])


def scripts(count, seed):
    """Texts of words in one script or a mixture, with signs and spaces of many kinds."""
    rng = random.Random(seed)
    scripts_ = blocks()
    latin = [chr(c) for c in range(0x61, 0x7B)] * 4 + [chr(c) for c in range(0xC0, 0x180)]
    signs = list(".,;:!?-_'\"()[]<>#@/\\\u2019\u201c\u3002\u060c") + ["\u2026", "'s", " [MASK] ", "<mask>"]
    marks = [chr(c) for c in range(0x300, 0x360)] + ["\u200d", "\ufe0f", "\u0327", "\u3099"]
    spaces = [" "] * 12 + ["  ", "\n", "\t", "\u00a0", "\u3000", "\r\n", ""]
    for _ in range(count):
        own = rng.choice(scripts_)
        at = rng.randrange(max(1, len(own) - 40))
        letters = rng.choice((latin, own[at:at + 40], own[at:at + 40], latin + own[at:at + 40]))
        text = ""
        for _ in range(rng.randint(1, 12)):
            word = "".join(rng.choice(letters) for _ in range(rng.randint(1, 8)))
            kind = rng.random()
            if kind < 0.15:
                word += rng.choice(marks) + rng.choice(letters)
            elif kind < 0.3:
                word = word.upper()
            elif kind < 0.4:
                word = str(rng.randrange(10 ** rng.randint(1, 7)))
            text += word + (rng.choice(signs) if rng.random() < 0.3 else "") + rng.choice(spaces)
        yield text


@functools.cache
def odd_characters():
    return [c for c in ALL if unicodedata.category(c) in ("Mn", "Mc", "Cf", "Zs", "Lm")]


def noise(count, seed):
    """Characters of the whole range in any order, marks and joiners more often."""
    rng = random.Random(seed)
    special = odd_characters()
    low = ALL[:0x3000]
    # What graphemes and the patterns of words depend on.
    joining = list("\r\n \t'sS0a\u0308\u0301\u200d\u263a\u00a9\u0915\u094d\u09be\u0600\u1100\u1161\u11a8\uac00\uac01"
                   "\u0d4e\u0e33\u1f3f\u2028\u00a0\u3000\u017f\ufe0f\u0c4d\u0c15\u0327") + ["\U0001f600", "\U0001f1e9"]
    for _ in range(count):
        yield "".join(rng.choice(rng.choice((low, joining, joining, special, ALL))) for _ in range(rng.randint(1, 24)))
