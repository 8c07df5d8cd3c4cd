"""Makes charsmaps for the normalizer Precompiled: tables of texts and their replacements."""
import unicodedata


def double_array(keys):
    """The units of a trie of {key: value} in the format of Darts."""
    root = {}
    for key, value in keys.items():
        node = root
        for byte in key:
            node = node.setdefault(byte, {})
        node[0] = value
    units, used, bases = [0] * 1024, {0}, set()
    todo = [(0, root, None)]
    first_free = 1
    while todo:
        at, node, label = todo.pop()
        while first_free in used:
            first_free += 1
        slot = first_free
        while True:
            base = slot ^ min(node)
            if slot not in used and base not in bases and all(base ^ c not in used for c in node):
                break
            slot += 1
        bases.add(base)
        units.extend([0] * (max(base ^ c for c in node) + 256 - len(units)))
        units[at] = (at ^ base) << 10 | (0 in node) << 8 | (label or 0)
        for byte, child in node.items():
            used.add(base ^ byte)
            if byte == 0:
                units[base] = 1 << 31 | child
            else:
                todo.append((base ^ byte, child, byte))
    return units


def charsmap(table):
    """The bytes of a charsmap of {text: replacement}."""
    texts, places = b"", {}
    for replacement in sorted(set(table.values())):
        places[replacement] = len(texts)
        texts += replacement.encode() + b"\0"
    units = double_array({key.encode(): places[value] for key, value in table.items()})
    blob = b"".join(unit.to_bytes(4, "little") for unit in units)
    return len(blob).to_bytes(4, "little") + blob + texts


def nfkc_like():
    """As SentencePiece has it: NFKC, decomposed pairs, spaces; and keys that begin with others."""
    table = {}
    for c in list(range(0xA0, 0x530)) + list(range(0x1E00, 0x2500)) + list(range(0x3040, 0x3400)) \
            + list(range(0xF900, 0xFA20)) + list(range(0xFB00, 0xFB50)) + list(range(0xFF00, 0xFFE8)):
        char = chr(c)
        normal = unicodedata.normalize("NFKC", char)
        if normal != char:
            table[char] = normal
        parts = unicodedata.normalize("NFD", char)
        if parts != char and len(parts) < 4:
            table[parts] = normal
    for c in "\t\n\r\u00a0\u2028\u3000":
        table[c] = " "
    for c in "\x01\x7f\u200b\u200d\ufe0f\ufffd":
        table[c] = ""
    table.update({"a\u0301": "A", "a": "a", "\u00a9": "c", "\u263a\u0308": "smile", "\u0915": "k",
                  "\u0915\u094d": "kv", "\u1100": "g", "\u1161": "a", "\r\n": "\n", "x": "xx", "\U0001f600": ":)"})
    return charsmap(table)
