"""The table of docs/models.md is what mpsd says of the models whose facts are in docs/models.tsv.

`models_page_test.py --update` writes the table anew. Of each model a folder is made that holds the
facts. Sizes are not among them: all models get the same few. `mpsd models` reads the folders with
the code that `mpsd inspect ORG/NAME` runs.
"""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from daemon import BIN, ROOT, WITH_TORCH

PAGE = ROOT / "docs/models.md"
HEAD = "| model | `model_type` | class | routes, or why not | seen |\n|---|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")
SIZES = {"hidden_size": 64, "dim": 64, "num_hidden_layers": 2, "n_layers": 2, "head_dim": 16,
         "num_attention_heads": 4, "n_heads": 4, "num_key_value_heads": 2, "hidden_dim": 64,
         "intermediate_size": 64, "max_position_embeddings": 514, "type_vocab_size": 1,
         "vocab_size": 30000, "sliding_window": 64, "n_embd": 64, "n_layer": 2, "n_head": 4,
         "n_inner": 64, "n_positions": 512, "layer_norm_epsilon": 1e-12, "rotary_emb_base": 1000, "rope_theta": 1000}


def config_of(facts):
    config = SIZES | json.loads(facts.get("keys", "{}"))
    if "activation_function" not in config:
        del config["n_embd"]  # the mark of NomicBERT's first keys
    if "labels" in facts:
        config["id2label"] = {str(label): f"LABEL_{label}" for label in range(int(facts["labels"]))}
    if "architectures" in facts:
        config["architectures"] = [facts["architectures"]]
    return config | {key: facts[key] for key in ("model_type",) if key in facts}


def write_model(facts, cache):
    """Writes the model as `mpsd pull` would have left it, but for what is in the large files."""
    folder = cache / f"models--{facts['model'].replace('/', '--')}"
    steps = [{"type": "sentence_transformers.models." + kind, "path": path}
             for kind, path in (("Transformer", ""), ("Pooling", "1_Pooling"))]
    files = {"config.json": config_of(facts), "tokenizer.json": {},
             facts.get("weights", "model.safetensors"): {}}
    if "pooling" in facts:
        files |= {"modules.json": steps, "1_Pooling/config.json": {"pooling_mode": facts["pooling"]}}
    for path, content in files.items():
        file = folder / "snapshots" / ("1" * 40) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))


def verdicts(models):
    """{model: the routes that mpsd would serve it by, or why it would not}."""
    with tempfile.TemporaryDirectory(prefix="mpsd-hub-") as home:
        for facts in models:
            write_model(facts, pathlib.Path(home) / "hub")
        done = subprocess.run([BIN / "mpsd", "models", "--json"], capture_output=True, text=True,
                              timeout=60, check=True,
                              env={"PATH": os.environ["PATH"], "HF_HOME": home})
    told = {model["model"]: model["serves"] for model in json.loads(done.stdout)}
    reason = "not served: config.json: "
    return {name: f"no: {serves.removeprefix(reason).split('; mpsd knows')[0]}"
            if serves.startswith("not served") else serves.split(": ")[1]
            for name, serves in told.items()}


def table():
    with open(PAGE.with_suffix(".tsv"), newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        models = [{key: value for key, value in row.items() if value != "-"} for row in rows]
    told = verdicts([facts for facts in models if "seen" in facts])
    lines = [(facts["model"], f"`{facts.get('model_type', '–')}`", facts.get("architectures", "–"),
              told.get(facts["model"], "config not seen"), facts.get("seen", "–")) for facts in models]
    return HEAD + "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("`–`", "–")


class ModelsPage(unittest.TestCase):
    @unittest.skipUnless(WITH_TORCH, "built without torch")
    def test_the_table_is_what_mpsd_says(self):
        self.maxDiff = None
        self.assertEqual(TABLE.search(PAGE.read_text())[0], table(),
                         "models_page_test.py --update writes it anew")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        made = table()
        PAGE.write_text(TABLE.sub(lambda _: made, PAGE.read_text()))
    else:
        unittest.main()
