"""The texts of the loads, and a load's report. Pure."""

import random
from dataclasses import dataclass, field, replace

TEXTS = 128  # texts of a load: enough for four requests of 32 at once
COMPARED = 64
LONGEST = 256  # tokens, as many as all-MiniLM-L6-v2 takes
SPECIAL = 2  # tokens that stand around a text
# Each word is one token of BERT's vocabulary, so a text's length is known without a tokenizer.
WORDS = """the of and to in is was for on that with by he at from his it an were are which this be
had has but not they one also their new after two who first all her more time when would
city world year state people school war group house family music film team area river
water church town game book story point road south north market light field""".split()


@dataclass(frozen=True)
class Load:
    """Texts, and how clients ask for them."""

    name: str
    title: str
    texts: tuple
    texts_a_request: int = 1
    clients: int = 1

    def requests(self):
        """The texts of each request of a pass."""
        return [list(self.texts[begin:begin + self.texts_a_request])
                for begin in range(0, len(self.texts), self.texts_a_request)]

    def sample(self):
        """The load with only the texts whose answers are compared."""
        return replace(self, texts=self.texts[:COMPARED])


@dataclass
class Report:
    """The report of a load: whole passes over its texts."""

    texts: int
    seconds: float  # from the first request until the last answer
    latencies_s: list = field(repr=False)
    client_cpu_s: float = 0

    def figures(self):
        """The figures for comparison and for JSON."""
        ordered = sorted(self.latencies_s)
        return {"texts_a_second": self.texts / self.seconds,
                "p50_ms": 1e3 * quantile(ordered, 0.5), "p99_ms": 1e3 * quantile(ordered, 0.99),
                "requests": len(ordered), "client_cores": self.client_cpu_s / self.seconds}


def quantile(ordered, share):
    """The smallest value that this share of the ordered values does not exceed."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def text_of(tokens, draw):
    """A text with `tokens` tokens, special ones included."""
    return " ".join(draw.choice(WORDS) for _ in range(tokens - SPECIAL))


def mixed_lengths(count, draw):
    """Log-normal lengths, 55 tokens in the mean and 250 in the 99th percentile, as in
    mpsd-lane-bench."""
    return [min(max(round(draw.lognormvariate(3.703, 0.78)), 8), LONGEST) for _ in range(count)]


def make_loads(seed):
    """All loads, the same for a seed."""
    draw = random.Random(seed)
    short = tuple(text_of(16, draw) for _ in range(TEXTS))
    mixed = tuple(text_of(tokens, draw) for tokens in mixed_lengths(TEXTS, draw))
    return {load.name: load for load in (
        Load("short_c1", "16 tokens, c=1", short),
        Load("mixed_c64", "mixed lengths, c=64", mixed, clients=64),
        Load("many_c4", "32 texts a request, c=4", mixed, texts_a_request=32, clients=4))}


def mean_tokens(load):
    """The mean number of tokens in a text."""
    return sum(len(text.split()) + SPECIAL for text in load.texts) / len(load.texts)


def farthest(vectors, wanted):
    """The largest difference of two numbers in the same place; infinite if a place is missing."""
    shapes = [[len(vector) for vector in rows] for rows in (vectors, wanted)]
    if shapes[0] != shapes[1]:
        return float("inf")
    return max((abs(a - b) for vector, other in zip(vectors, wanted)
                for a, b in zip(vector, other)), default=0)
