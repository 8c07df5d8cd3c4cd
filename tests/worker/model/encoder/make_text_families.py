"""Writes text_families/: small models with the tokenizer of their family, as transformers and
sentence-transformers save them, and what these tools make of a few texts with them. With --check it
writes nothing, and fails where the tools make something else.

Run with: python make_text_families.py [--check]
Needs the PyPI packages of make_families.py, sentence-transformers and tokenizers (6.2.0 and 0.23.3
wrote the committed files). Without them --check is skipped. What is written:

  samples.json           the texts and the pairs of texts that the models are asked
  tokenizers/NAME.json   a tokenizer.json, which several folders have
  NAME.json              of a folder the name of its tokenizer, its other small files, and its
                         weights' names, dtypes and shapes (their numbers follow from the names);
                         which samples it is asked, with which prompt; and its answers: an
                         embedding each, or logits and scores
"""

import argparse
import json
import pathlib
import sys
import tempfile

import make_families
import text_samples

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "text/tokenizer"))
try:
    import text_tokenizers
    import torch
    import transformers as t
    from family_folders import TEXT_FAMILIES, read_text_family, write_weights
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
except ImportError as error:
    print(f"skipped: there is no {error.name} in {sys.executable}")
    sys.exit(0 if "--check" in sys.argv else 1)

WIDTH = 16
SAMPLES = {"texts": text_samples.TEXTS, "pairs": text_samples.PAIRS}
NAMES = {"id2label": {0: "anger", 1: "joy", 2: "neither"},
         "label2id": {"anger": 0, "joy": 1, "neither": 2}}
# What tells of the tools that wrote a file, and nothing of the model.
VERSIONS = ("transformers_version", "__version__")


def numbers(values):
    return [float(f"{value:.9g}") for value in values.flatten().tolist()]


def with_weights(folder):
    """Gives the folder's weights the numbers that follow from their names; returns their shapes."""
    shapes = {str(path.relative_to(folder)): make_families.tensors_of(path)
              for path in sorted(folder.rglob("*.safetensors"))}
    for path, tensors in shapes.items():
        write_weights(folder / path, tensors)
    return shapes


def content_of(folder, tokenizer, weights, more):
    files = {str(path.relative_to(folder)): json.loads(path.read_text())
             for path in sorted(folder.rglob("*.json"))}
    whole = files.pop("tokenizer.json")
    return {"tokenizer": tokenizer, "files": files, "weights": weights, **more}, whole


class Folder:
    """A temporary folder with a model and its tokenizer, as transformers saves them."""

    def __init__(self, make_model, config, tokenizer, **sizes):
        self.tokenizer = tokenizer
        self._place = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self._place.name, "transformers")
        words = text_tokenizers.make(tokenizer)
        words.save_pretrained(self.path)
        pads = {"pad_token_id": words.pad_token_id}
        make_model(config(**{**sizes, "vocab_size": len(words), **pads})).save_pretrained(self.path)

    def saved_again(self, model):
        """What a tool that has read the folder saves of it."""
        self.path = self.path.with_name("again")
        model.save_pretrained(str(self.path))

    def content(self, answer, **more):
        weights = with_weights(self.path)
        return content_of(self.path, self.tokenizer, weights, more | {"answers": answer(self.path)})


def embedder(folder, mode, dense=(), normalize=True, prompts=None, default=None, prompt_name=None):
    """A folder of sentence-transformers; `dense` has the widths of its Dense."""
    steps = [modules.Transformer(str(folder.path)), modules.Pooling(WIDTH, mode)]
    width = WIDTH
    for wider in dense:
        steps.append(modules.Dense(width, wider))
        width = wider
    steps += [modules.Normalize()] * normalize
    folder.saved_again(SentenceTransformer(modules=steps, device="cpu", prompts=prompts,
                                           default_prompt_name=default))

    def answer(path):
        model = SentenceTransformer(str(path), device="cpu")
        return [numbers(model.encode(text, prompt_name=prompt_name)) for text in SAMPLES["texts"]]

    return folder.content(answer, asks="texts", prompt_name=prompt_name)


def reranker(folder, activation=None):
    """A folder that sentence-transformers has saved."""
    folder.saved_again(CrossEncoder(str(folder.path), device="cpu", activation_fn=activation))

    def answer(path):
        model = CrossEncoder(str(path), device="cpu")
        return [numbers(torch.tensor([model.predict(pair, activation_fn=torch.nn.Identity()),
                                      model.predict(pair)])) for pair in SAMPLES["pairs"]]

    return folder.content(answer, asks="pairs")


def classifier(folder, asks, activation):
    """A folder that transformers has saved."""
    def answer(path):
        model = t.AutoModelForSequenceClassification.from_pretrained(path).eval()
        words = t.AutoTokenizer.from_pretrained(path)
        answers = []
        for sample in SAMPLES[asks]:
            # A list: alone, transformers takes a pair with an empty second text for one text.
            one = [sample if asks == "texts" else tuple(sample)]
            with torch.no_grad():
                logits = model(**words(one, truncation=True, return_tensors="pt")).logits[0]
            answers.append(numbers(torch.cat([logits, activation(logits)])))
        return answers

    return folder.content(answer, asks=asks)


def embedders():
    """The content of each embedder and its tokenizer, by the name of its file."""
    usual = make_families.SIZES | {"max_position_embeddings": 40}
    kin = usual | {"type_vocab_size": 1}
    heads = usual | {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12}
    distil = make_families.DISTIL | {"max_position_embeddings": 40}
    gemma = heads | {"num_hidden_layers": 3, "sliding_window": 6, "sliding_window_pattern": 3,
                     "query_pre_attn_scalar": 10, "use_bidirectional_attention": True}
    modern = usual | {"num_hidden_layers": 4, "global_attn_every_n_layers": 2, "local_attention": 6}
    query = {"query": "query: ", "document": "passage: "}
    return {
        "bert": embedder(Folder(t.BertModel, t.BertConfig, "wordpiece", **usual), "mean"),
        "bert_cased": embedder(
            Folder(t.BertModel, t.BertConfig, "wordpiece_cased", **usual), "cls", dense=(5,),
            normalize=False),
        "bert_unigram": embedder(
            Folder(t.BertModel, t.BertConfig, "xlm_roberta", **usual), "mean", prompts=query,
            prompt_name="query"),
        "roberta": embedder(Folder(t.RobertaModel, t.RobertaConfig, "roberta", **kin), "mean"),
        "xlm_roberta": embedder(
            Folder(t.XLMRobertaModel, t.XLMRobertaConfig, "xlm_roberta", **kin), "mean",
            prompts=query, default="document"),
        "camembert": embedder(
            Folder(t.CamembertModel, t.CamembertConfig, "camembert", **kin), "mean",
            normalize=False),
        "distilbert": embedder(
            Folder(t.DistilBertModel, t.DistilBertConfig, "distilbert", **distil), "max"),
        "mpnet": embedder(Folder(t.MPNetModel, t.MPNetConfig, "mpnet", **kin), "mean"),
        "modernbert": embedder(
            Folder(t.ModernBertModel, t.ModernBertConfig, "modernbert", **modern), "cls"),
        "nomic_bert": embedder(
            Folder(t.NomicBertModel, t.NomicBertConfig, "wordpiece", **usual), "mean",
            prompts=query, prompt_name="document"),
        "gte": embedder(Folder(t.GteModel, t.GteConfig, "xlm_roberta", **usual), "cls"),
        "qwen3": embedder(
            Folder(t.Qwen3Model, t.Qwen3Config, "qwen3", **heads), "lasttoken",
            prompts={"query": "Instruct: find the documents that answer it\nQuery:"},
            prompt_name="query"),
        "gemma3": embedder(
            Folder(t.Gemma3TextModel, t.Gemma3TextConfig, "gemma3", **gemma), "mean",
            dense=(24, 16), prompts={"query": "task: search result | query: "},
            prompt_name="query"),
    }


def classifiers():
    """The content of each reranker or classifier and its tokenizer, by the name of its file."""
    usual = make_families.SIZES | {"max_position_embeddings": 40}
    kin = usual | {"type_vocab_size": 1}
    distil = make_families.DISTIL | {"max_position_embeddings": 40}
    modern = usual | {"num_hidden_layers": 4, "global_attn_every_n_layers": 2, "local_attention": 6}
    one = {"num_labels": 1}
    softmax, sigmoid = make_families.softmax, torch.sigmoid
    bert = t.BertForSequenceClassification
    return {
        "bert_reranker": reranker(Folder(bert, t.BertConfig, "wordpiece", **usual, **one)),
        "bert_reranker_logits": reranker(
            Folder(bert, t.BertConfig, "wordpiece_cased", **usual, **one), torch.nn.Identity()),
        "modernbert_reranker": reranker(
            Folder(t.ModernBertForSequenceClassification, t.ModernBertConfig, "modernbert",
                   **modern, **one)),
        "xlm_roberta_reranker": classifier(
            Folder(t.XLMRobertaForSequenceClassification, t.XLMRobertaConfig, "xlm_roberta", **kin,
                   **one), "pairs", sigmoid),
        "gte_reranker": classifier(
            Folder(t.GteForSequenceClassification, t.GteConfig, "xlm_roberta", **usual, **one),
            "pairs", sigmoid),
        "roberta_pair_classifier": classifier(
            Folder(t.RobertaForSequenceClassification, t.RobertaConfig, "roberta", **kin, **NAMES),
            "pairs", softmax),
        "camembert_classifier": classifier(
            Folder(t.CamembertForSequenceClassification, t.CamembertConfig, "camembert", **kin,
                   **NAMES), "texts", softmax),
        "distilbert_classifier": classifier(
            Folder(t.DistilBertForSequenceClassification, t.DistilBertConfig, "distilbert",
                   **distil, **NAMES), "texts", softmax),
        "mpnet_classifier": classifier(
            Folder(t.MPNetForSequenceClassification, t.MPNetConfig, "mpnet", **kin, **NAMES,
                   problem_type="multi_label_classification"), "texts", sigmoid),
        "nomic_bert_classifier": classifier(
            Folder(t.NomicBertForSequenceClassification, t.NomicBertConfig, "wordpiece", **usual,
                   **NAMES), "texts", softmax),
    }


def lines_of(content):
    """A line for each entry of an object in an object or list, so that differences are readable."""
    def one(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def entries(value):
        if isinstance(value, dict):
            return "{\n" + ",\n".join(f"{one(key)}:{one(entry)}" for key, entry in value.items()) + "}"
        if isinstance(value, list):
            return "[\n" + ",\n".join(one(entry) for entry in value) + "]"
        return one(value)

    return "{" + ",\n".join(f"{one(key)}:{entries(value)}" for key, value in content.items()) + "}\n"


def without_versions(value):
    if not isinstance(value, dict):
        return value
    return {key: without_versions(entry) for key, entry in value.items() if key not in VERSIONS}


def check(name, made):
    """Compares a committed folder with what is made now; returns whether it is right."""
    content, tokenizer = made
    told = read_text_family(name)
    kept = without_versions({**told, "answers": None})
    now = without_versions({**content, "answers": None, "tokenizer.json": tokenizer,
                            "samples": told["samples"]})
    farthest = max(abs(a - b) for ours, theirs in zip(told["answers"], content["answers"], strict=True)
                   for a, b in zip(ours, theirs, strict=True))
    right = kept == json.loads(json.dumps(now)) and farthest <= make_families.FARTHEST
    print(f"{name}: {'right' if right else 'WRONG'}, farthest {farthest:.1e}")
    return right


def write(made):
    (TEXT_FAMILIES / "tokenizers").mkdir(parents=True, exist_ok=True)
    (TEXT_FAMILIES / "samples.json").write_text(lines_of(SAMPLES))
    for name, (content, tokenizer) in made.items():
        (TEXT_FAMILIES / f"{name}.json").write_text(lines_of(content))
        (TEXT_FAMILIES / f"tokenizers/{content['tokenizer']}.json").write_text(lines_of(tokenizer))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    made = embedders() | classifiers()
    if arguments.check:
        sys.exit(0 if all([check(name, one) for name, one in made.items()]) else 1)
    write(made)


if __name__ == "__main__":
    main()
