"""Small tokenizers of the kind of each family, of transformers' own classes."""

import collections
import json
import math
import unicodedata

import charsmap
import transformers
from text_samples import LEARNED
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

MOST_TOKENS = 32
WORDS = 380
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
GEMMA = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]


def learn(pre_tokenizer, trainer, texts=LEARNED):
    """Vocabulary and merges of byte pairs that have learned from the texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


# The trainers of the other two kinds make something else each time.
def frequent_parts(words, inner=""):
    """The most frequent parts of words, with their counts; `inner` is before those that begin none."""
    counts = collections.Counter()
    for word in words:
        counts.update((inner if place else "") + word[place:place + size]
                      for size in range(1, 6) for place in range(len(word) - size + 1))
    return counts.most_common(WORDS), counts.total()


def wordpiece_vocabulary(special, lower):
    text = normalizers.BertNormalizer(lowercase=lower).normalize_str(" ".join(LEARNED))
    words = [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text)]
    parts, _ = frequent_parts(words, "##")
    return {word: place for place, word in enumerate(special + [part for part, _ in parts])}


def wordpiece(make, lower=True, special=BERT):
    return make(vocab=wordpiece_vocabulary(special, lower), do_lower_case=lower,
                model_max_length=MOST_TOKENS)


def unigram_vocabulary(special):
    parts, total = frequent_parts(["\u2581" + word for word in " ".join(LEARNED).split()])
    return [(word, 0.0) for word in special] + [
        (part, round(math.log(count / total), 3)) for part, count in parts]


def compiled():
    """A charsmap of SentencePiece's kind: NFKC of some characters, spaces, and what is dropped."""
    wide = [chr(code) for code in (*range(0xA0, 0x180), *range(0xFB00, 0xFB07), *range(0xFF21, 0xFF5B))]
    table = {char: unicodedata.normalize("NFKC", char) for char in wide}
    table |= {unicodedata.normalize("NFD", char): char for char in wide}
    table = {char: normal for char, normal in table.items() if char != normal and len(char) < 3}
    table |= {space: " " for space in "\t\n\r\u00a0\u2028\u3000"}
    table |= {char: "" for char in "\u0007\u200b\ufeff\u00ad"}
    return charsmap.charsmap(table | {"①": "1", "½": "1⁄2", "ｶ": "カ", "…": "..."})


def unigram(make, special):
    return make(vocab=unigram_vocabulary(special), _spm_precompiled_charsmap=compiled(),
                model_max_length=MOST_TOKENS)


def byte_pairs(special, last=()):
    """Vocabulary and merges over all bytes; `last` are special tokens behind them."""
    trainer = trainers.BpeTrainer(vocab_size=WORDS, special_tokens=special, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    words, merges = learn(pre_tokenizers.ByteLevel(add_prefix_space=False), trainer)
    return words | {word: len(words) + place for place, word in enumerate(last)}, merges


def roberta():
    words, merges = byte_pairs(ROBERTA)
    return transformers.RobertaTokenizer(vocab=words, merges=merges, model_max_length=MOST_TOKENS)


def framed(single, pair, ids):
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=list(ids.items()))


def modernbert():
    words, merges = byte_pairs([], BERT)
    tokenizer = Tokenizer(models.BPE(words, merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = framed("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]",
                                      {word: words[word] for word in ("[CLS]", "[SEP]")})
    names = ("pad", "unk", "cls", "sep", "mask")
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=MOST_TOKENS,
        **{f"{name}_token": word for name, word in zip(names, BERT, strict=True)})


def qwen3():
    words, merges = byte_pairs([], ["<|endoftext|>"])
    made = transformers.Qwen2Tokenizer(vocab=words, merges=merges, model_max_length=MOST_TOKENS)
    end = "<|endoftext|>"
    made.backend_tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False, use_regex=False),
        framed(f"$A {end}", f"$A {end} $B {end}", {end: words[end]})])
    return made


def gemma3():
    """Other characters than those of some texts are bytes."""
    learned, merges = learn(pre_tokenizers.Metaspace(),
                            trainers.BpeTrainer(vocab_size=WORDS, show_progress=False), LEARNED[:8])
    tokens = GEMMA + [f"<0x{byte:02X}>" for byte in range(256)] + list(learned)
    words = {token: place for place, token in enumerate(tokens)}
    made = transformers.GemmaTokenizer(
        vocab=words, merges=merges, model_max_length=MOST_TOKENS, add_bos_token=True,
        add_eos_token=True)
    made.backend_tokenizer.post_processor = framed(
        "<bos> $A <eos>", "<bos> $A <eos> <bos> $B <eos>", {"<bos>": 2, "<eos>": 1})
    return made


MAKERS = {
    "wordpiece": lambda: wordpiece(transformers.BertTokenizer),
    "wordpiece_cased": lambda: wordpiece(transformers.BertTokenizer, lower=False),
    "distilbert": lambda: wordpiece(transformers.DistilBertTokenizer),
    "mpnet": lambda: wordpiece(transformers.MPNetTokenizer,
                               special=["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]),
    "xlm_roberta": lambda: unigram(transformers.XLMRobertaTokenizer, ROBERTA[:4] + ["<mask>"]),
    "camembert": lambda: unigram(transformers.CamembertTokenizer,
                                 ["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED",
                                  "<s>", "</s>", "<mask>"]),
    "roberta": roberta,
    "modernbert": modernbert,
    "qwen3": qwen3,
    "gemma3": gemma3,
}


def make(name):
    """A tokenizer by its name, each time the same."""
    return MAKERS[name]()
