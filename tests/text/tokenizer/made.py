"""Tokenizers made by the library `tokenizers` at test time: every part that mpsd knows."""
import collections
import functools
import itertools
import json
import math
import random
import unicodedata

from tokenizers import (AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors,
                        trainers)

import charsmap
import texts

BERT_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def training_texts():
    """Words of many scripts; composed and decomposed, in both cases."""
    for text in itertools.chain(texts.scripts(2000, 7), texts.TRICKY):
        yield text
        yield text.lower()
        yield unicodedata.normalize("NFKD", text)


def bert_frame(tokenizer):
    ids = {t: tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]")}
    return processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=list(ids.items()))


@functools.cache
def wordpiece_vocabulary():
    """Of texts that are not normalized, so that every tokenizer has words for some of its texts."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(training_texts(), trainers.WordPieceTrainer(
        vocab_size=9000, special_tokens=BERT_TOKENS, show_progress=False, min_frequency=1))
    return tokenizer.get_vocab()


def wordpiece(frame=bert_frame, **normalizer):
    tokenizer = Tokenizer(models.WordPiece(wordpiece_vocabulary(), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**normalizer)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(BERT_TOKENS)
    tokenizer.post_processor = frame(tokenizer)
    return tokenizer


def bert_processing(tokenizer):
    return processors.BertProcessing(("[SEP]", tokenizer.token_to_id("[SEP]")),
                                     ("[CLS]", tokenizer.token_to_id("[CLS]")))


def wordpieces():
    yield "uncased", wordpiece()
    yield "cased", wordpiece(lowercase=False, frame=bert_processing)
    yield "uncased with accents", wordpiece(strip_accents=False)
    yield "cased without accents", wordpiece(lowercase=False, strip_accents=True)
    yield "raw", wordpiece(clean_text=False, handle_chinese_chars=False, lowercase=False)


def with_added_tokens():
    tokenizer = wordpiece()
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True), AddedToken("<r>", rstrip=True)])
    tokenizer.add_tokens([
        AddedToken("lo", single_word=True), AddedToken("lolo", single_word=True, normalized=False),
        AddedToken("\u00c9A", normalized=True), AddedToken("#"), AddedToken("##", lstrip=True, rstrip=True),
        AddedToken("\u4e2d", normalized=False), AddedToken("a\u0301", normalized=False, lstrip=True),
    ])
    yield "added tokens", tokenizer


@functools.cache
def unigram_vocabulary():
    """(token, score): parts of words by how often they are there, and some of a kind of their own."""
    counts = collections.Counter()
    for text in training_texts():
        for word in text.split():
            word = "\u2581" + word[:40]
            counts.update(word[i:i + n] for n in range(1, 7) for i in range(len(word) - n + 1))
    special = [(token, 0.0) for token in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")]
    trained = special + [(part, math.log(count / 1e6)) for part, count in counts.most_common(12000)]
    rng = random.Random(5)
    further = [(f"<0x{byte:02X}>", -15.0) for byte in range(256)] \
        + [("\u0915\u0916\u0917", -3.5), ("\u4e01\u4e02", -90.0), ("\u2581\u2581", -2.0)] \
        + [("ab" * n, rng.uniform(-12, -4)) for n in range(2, 9)]
    return list({token: (token, score) for token, score in trained + further}.values())


def unigram(normalizer, pre_tokenizer, **options):
    tokenizer = Tokenizer(models.Unigram(unigram_vocabulary(), unk_id=3, **options))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer


def unigrams():
    compiled = normalizers.Precompiled(charsmap.nfkc_like())
    runs = normalizers.Replace(Regex(" {2,}"), "\u2581")
    yield "XLM-R", unigram(compiled, pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))
    yield "T5", unigram(normalizers.Sequence([compiled, normalizers.Strip(left=False), runs]),
                        pre_tokenizers.Metaspace())
    yield "ALBERT", unigram(normalizers.Sequence([
        normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
        normalizers.StripAccents(), normalizers.Lowercase(), compiled,
        normalizers.Replace(Regex(" {2,}"), " ")]), pre_tokenizers.Metaspace())
    yield "byte fallback, whole texts", unigram(
        normalizers.Sequence([normalizers.NFKC(), normalizers.Prepend("\u2581"), normalizers.Strip(right=False),
                              normalizers.Replace(" ", "\u2581")]), None, byte_fallback=True)
    yield "NFC, uncut", unigram(normalizers.NFC(), pre_tokenizers.Metaspace(split=False, prepend_scheme="never"))
    yield "NFD", unigram(normalizers.NFD(), pre_tokenizers.Metaspace("_"))


QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@functools.cache
def bpe_parts():
    """The vocabulary and merges of a trained model."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    tokenizer.train_from_iterator(training_texts(), trainers.BpeTrainer(
        vocab_size=5000, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def bpe(pre_tokenizer, frame, normalizer=None, **options):
    tokenizer = Tokenizer(models.BPE(*bpe_parts(), **options))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True),
                                  "<|endoftext|>"])
    tokenizer.post_processor = frame
    return tokenizer


def split(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def bpes():
    trim = processors.ByteLevel(trim_offsets=False)
    end = processors.TemplateProcessing(single="$A <s>", pair="$A <s> $B <s>", special_tokens=[("<s>", 0)])
    yield "RoBERTa", bpe(pre_tokenizers.ByteLevel(add_prefix_space=False),
                         processors.RobertaProcessing(("</s>", 2), ("<s>", 0)))
    yield "GPT-2 with a space", bpe(pre_tokenizers.ByteLevel(add_prefix_space=True), trim)
    yield "GPT-2's pattern", bpe(split(GPT2), trim)
    yield "Qwen 2", bpe(split(QWEN2), processors.Sequence([trim, end]), normalizers.NFC())
    yield "Llama 3", bpe(split(LLAMA3), processors.Sequence([trim, end]), ignore_merges=True)
    yield "unknown characters", bpe(pre_tokenizers.WhitespaceSplit(), trim, unk_token="<unk>", fuse_unk=True)
    yield "Gemma", gemma(normalizers.Replace(" ", "\u2581"))
    yield "Gemma without some bytes", gemma(None, {f"<0x{byte:02X}>" for byte in range(0x98, 256)})
    yield "each unknown character", bpe(pre_tokenizers.WhitespaceSplit(), trim, unk_token="<unk>")


@functools.cache
def gemma_parts():
    """The tokens, all bytes but not all characters, and merges of a trained model."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(training_texts(), trainers.BpeTrainer(
        vocab_size=5000, limit_alphabet=300, show_progress=False))
    model = json.loads(tokenizer.to_str())["model"]
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    return tokens + list(model["vocab"]), [tuple(merge) for merge in model["merges"]]


def gemma(normalizer, lacking=()):
    """As Gemma: texts that are not cut, and bytes for characters without a token."""
    tokens, merges = gemma_parts()
    vocabulary = {token: place for place, token in enumerate(t for t in tokens if t not in lacking)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.add_special_tokens(tokens[:4])
    tokenizer.add_tokens([AddedToken(sign * n, normalized=False) for sign in "\n\u2581" for n in (1, 2, 3)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", pair="<bos> $A <eos> <bos>:1 $B:1 <eos>:1",
        special_tokens=[("<bos>", 2), ("<eos>", 1)])
    return tokenizer


def visible_replacements(tokenizer):
    """The same tokenizer, which does not drop U+FFFD, and has a token for it."""
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.normalizer = normalizers.BertNormalizer(clean_text=False)
    tokenizer.add_tokens([AddedToken("\ufffd", normalized=False)])
    return tokenizer


def unknown_parts():
    """(what to do to a tokenizer.json, a pattern of the error that names it)."""
    def put(path, value):
        def change(changed):
            *folders, key = path.split(".")
            for folder in folders:
                changed = changed[folder]
            changed[key] = value
        return change

    yield put("normalizer.type", "Zorn"), "normalizer: the type 'Zorn' is not known"
    yield put("normalizer.zorn", 1), "normalizer: 'zorn' is not known"
    yield put("normalizer.lowercase", "yes"), "normalizer: 'lowercase' must be true or false"
    yield put("pre_tokenizer.type", "Zorn"), "pre_tokenizer: the type 'Zorn' is not known"
    yield put("post_processor.type", "Zorn"), "post_processor: the type 'Zorn' is not known"
    yield put("post_processor.pair", []), "post_processor.pair: A and B must be there once each"
    yield put("model.type", "Zorn"), "model: the type 'Zorn' is not known"
    yield put("model.unk_token", "[ZORN]"), r"model: the vocabulary has no \[ZORN\]"
    yield put("model.vocab", {"a": -1}), "model: the token 'a' has a wrong id"
    yield put("zorn", 1), "tokenizer.json: 'zorn' is not known"
    yield put("version", "2.0"), "tokenizer.json: its version must be 1.0"
    yield put("added_tokens", [{"id": 77777, "content": "q"}]), "'q' has the id 77777, but"
    yield put("added_tokens", [{"id": 0, "content": "[PAD]", "zorn": 1}]), "added_tokens: 'zorn'"
