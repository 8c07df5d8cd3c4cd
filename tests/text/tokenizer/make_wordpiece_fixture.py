#!/usr/bin/env python3
"""Writes tiny_vocab.txt and the wordpiece fixtures with the tokenizers library, the reference.

Run with: pip install tokenizers==0.23.3; tests/text/tokenizer/make_wordpiece_fixture.py
"""
import json
import pathlib
import string

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

FOLDER = pathlib.Path(__file__).resolve().parent
WORDS = """the a is of to and in un ##able ##aff ##ing ##s ##ed want ##want runn hello world cafe
naive uber strasse resume token ##izer ##ization embed ##ding server model batch привет мир γεια
σου κοσμε かな 中 国 人 日 本 語 한 don t can i"""
SIGNS = string.punctuation + "¿¡«»“”‘’…–—、。！？€°"
LETTERS = string.ascii_lowercase + string.digits + "ßæøœıþ" + "абвгдеёжзийклмнопрстуфхцчшщъыьэюя" \
    + "αβγδεζηθικλμνξοπρστυφχψως" + "かきくけこはひふへほ" + "ᄀᄂᄃᄅᄆᄇᄉᄋᄌᄒ" + "ᅡᅥᅩᅮᅳᅵ" + "ᆨᆫᆯᆷᆸᆼ"
CAPITALS = string.ascii_uppercase + "ÉéÅïßПрË"
TEXTS = [
    "Hello, World!",
    "The unaffable server is wanted.",
    "  leading,\ttabs\nand \r\n newlines  ",
    "Café naïve über résumé Ångström",
    "Cafe\u0301 nai\u0308ve",
    "Straße STRASSE ẞ",
    "İstanbul ISPARTA ıı",
    "don't can't I'm",
    "C++ & C# cost $5.00 (50% off)!!!",
    "e-mail: a.b_c@example.org",
    "“quoted” ‘text’ … – — «guillemets»",
    "中国人 and 日本語 mixed中with人latin",
    "ＦＵＬＬ　ｗｉｄｔｈ！",
    "Привет, Мир! Ёжик Йод",
    "Γειά σου Κόσμε ΣΊΣΥΦΟΣ",
    "がぎ かな パ",
    "한국어 각",
    "control\x00chars\x07here\u200bzero\u00adwidth\x7f",
    "replacement\ufffdcharacter",
    "no\u00a0break\u2003em\u3000ideographic spaces\u2028line",
    "emoji 😀 and 👩‍💻 joined",
    "a" * 100 + " " + "b" * 101,
    "",
    " \t\n ",
    "ﬁne ligature ² ½ №",
    "naïve\u0327 stacked a\u0300\u0301\u0302",
    "word " * 300,
    "()[]{}<>^~`|=+*/\\",
    "x\x85y\x0bz\x0cw",
    "Ǆ ǅ ǆ Ǹ Ḁ ṩ ự ῷ",
]


def vocabulary():
    letters = list(dict.fromkeys(LETTERS))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(SIGNS), *letters,
             *("##" + letter for letter in letters), *WORDS.split(),
             *CAPITALS, *("##" + letter for letter in CAPITALS), "Hello", "World", "Café"]
    return list(dict.fromkeys(words))


def reference(words, lowercase):
    ids = {word: i for i, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(t, ids[t]) for t in ("[CLS]", "[SEP]")])
    tokenizer.enable_truncation(256)
    return tokenizer


def main():
    words = vocabulary()
    (FOLDER / "tiny_vocab.txt").write_text("\n".join(words) + "\n")
    for name, lowercase in (("wordpiece_fixture", True), ("wordpiece_cased_fixture", False)):
        tokenizer = reference(words, lowercase)
        cases = [json.dumps({"text": text, "ids": tokenizer.encode(text).ids}) for text in TEXTS]
        (FOLDER / f"{name}.json").write_text("[\n" + ",\n".join(cases) + "\n]\n")


main()
