"""Synthetic models of texts: the numbers that they give for a text can be told beforehand."""
from models import synthetic, tensor

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"]
CLS, SEP = 2, 3
TOKENS = [tensor("input_ids", [-1], "INT64"), tensor("attention_mask", [-1], "INT64"),
          {**tensor("token_type_ids", [-1], "INT64"), "optional": True}]
EMBEDDING = [tensor("sentence_embedding", [8])]
RANKING = [tensor("logits", [1]), tensor("scores", [1])]
MOST_TOKENS = 6


def encoder(name, outputs, folder):
    """A model that takes texts, with its vocabulary in `folder`."""
    vocab = folder / "vocab.txt"
    vocab.write_text("".join(f"{word}\n" for word in WORDS))
    return synthetic(name, TOKENS, max_batch_size=4, outputs=outputs,
                     text={"tokenizer": str(vocab), "max_tokens": MOST_TOKENS},
                     parameters={"encode": "true"})


def tokens_of(text, pair=None):
    ids = [CLS, *(WORDS.index(word) for word in text.split()), SEP]
    return ids if pair is None else [*ids, *tokens_of(pair)[1:]]


def numbers_of(ids, width=8):
    """What a synthetic encoder gives for a row of tokens."""
    return [float(sum(one * (place + 3) % 17 - 8 for one in ids)) for place in range(width)]


def unit(vector):
    length = sum(number * number for number in vector) ** 0.5
    return [number / length for number in vector]
