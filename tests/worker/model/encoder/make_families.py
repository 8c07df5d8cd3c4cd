"""Writes families/NAME.json: small models of each family, and what transformers makes of a few rows
of tokens with them. With --check it writes nothing, and fails where transformers makes something
else.

Run with: python make_families.py [--check]
Needs the PyPI packages torch, numpy and transformers (2.11.0, 2.4.6 and 5.23.0 wrote the committed
files). Without transformers --check is skipped. Each file has:

  files     config.json as save_pretrained() writes it, for an embedder the files of
            sentence-transformers, for several shards their index
  weights   of each safetensors file the tensors' names, dtypes and shapes. Their numbers follow
            from the names (tests/support/family_folders.py), so no model lies in the repository.
  rows      tokens, and the answer: the embedding, or logits and scores

An embedder's answer is computed here as sentence-transformers documents its steps.
"""

import argparse
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))
try:
    import torch
    import transformers
    from family_folders import FAMILIES, read, weight, write_weights
    from safetensors import safe_open
except ImportError as error:
    print(f"skipped: there is no {error.name} in {sys.executable}")
    sys.exit(0 if "--check" in sys.argv else 1)

LENGTHS = (1, 2, 3, 3, 7, 12, 20)
WORDS = 60
YES, NO = 9693, 2152  # Qwen 3's words
FARTHEST = 1e-5

SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
         "intermediate_size": 24, "vocab_size": WORDS}
DISTIL = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24, "vocab_size": WORDS,
          "max_position_embeddings": 24}
KIN = SIZES | {"max_position_embeddings": 26, "pad_token_id": 1, "type_vocab_size": 1}


def tensors_of(path):
    """The names, dtypes and shapes of a safetensors file."""
    with safe_open(path, "pt") as file:
        slices = {name: file.get_slice(name) for name in sorted(file.keys())}
        return [[name, entry.get_dtype(), entry.get_shape()] for name, entry in slices.items()]


def pooled(states, mode):
    return {"mean": states.mean(0), "cls": states[0], "lasttoken": states[-1],
            "max": states.amax(0)}[mode]


def answers(model, rows, answer):
    """What the model makes of each row, alone."""
    entries = []
    for ids, types in rows:
        inputs = {"input_ids": torch.tensor([ids]),
                  "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        entry = {"input_ids": ids}
        if types is not None:
            inputs["token_type_ids"] = torch.tensor([types])
            entry["token_type_ids"] = types
        with torch.no_grad():
            values = answer(model(**inputs))
        entry["answer"] = [float(f"{value:.9g}") for value in values.flatten()]
        entries.append(entry)
    return entries


def rows_for(seed, types):
    draw = torch.Generator().manual_seed(seed)
    rows = []
    for length in LENGTHS:
        ids = torch.randint(2, WORDS, (length,), generator=draw).tolist()
        kinds = torch.randint(0, 2, (length,), generator=draw).tolist() if types else None
        rows.append((ids, kinds))
    return rows


def family(model, rows, answer, files=None, weights=None, dtype=None, shard="1GB", config=None):
    """The content of one family's file. The answers are those of the folder, read again. `config`
    are keys of config.json that the folder has instead of the saved ones."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model.to(dtype or torch.float32).save_pretrained(folder, max_shard_size=shard)
        shards = {path.name: tensors_of(path) for path in sorted(folder.glob("*.safetensors"))}
        for file, tensors in shards.items():
            write_weights(folder / file, tensors)
        small = {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))
                 if path.name != "generation_config.json"}
        if config:
            small["config.json"] = config(small["config.json"])
        again = type(model).from_pretrained(folder, dtype=torch.float32).eval()
        return {"files": small | (files or {}), "weights": shards | (weights or {}),
                "rows": answers(again, rows, answer)}


def text_of(content):
    """A line for each small file, tensor and row."""
    def lines(entries):
        return ",\n".join(entries)

    def one(value):
        return json.dumps(value, separators=(",", ":"))

    files = lines(f"{one(name)}:{one(value)}" for name, value in content["files"].items())
    weights = lines(f"{one(name)}:[\n{lines(one(tensor) for tensor in tensors)}]"
                    for name, tensors in content["weights"].items())
    return (f'{{"files":{{\n{files}}},\n"weights":{{\n{weights}}},\n'
            f'"rows":[\n{lines(one(row) for row in content["rows"])}]}}\n')


def step(kind, number):
    path = "" if number == 0 else f"{number}_{kind}"
    return {"idx": number, "name": str(number), "path": path,
            "type": f"sentence_transformers.models.{kind}"}


def embedder(model, mode, seed, types=False, dense=(), bias=True, normalize=True, **more):
    """An embedder with the files of sentence-transformers; `dense` has the widths of its Dense."""
    key = {"cls": "cls_token", "lasttoken": "lasttoken"}.get(mode, f"{mode}_tokens")
    kinds = ["Transformer", "Pooling"] + ["Dense"] * len(dense) + ["Normalize"] * normalize
    files = {"modules.json": [step(kind, number) for number, kind in enumerate(kinds)],
             "1_Pooling/config.json": {f"pooling_mode_{key}": True}}
    weights, width = {}, 16
    for number, wider in enumerate(dense, 2):
        kind = "activation.Tanh" if bias else "linear.Identity"
        files[f"{number}_Dense/config.json"] = {
            "in_features": width, "out_features": wider, "bias": bias,
            "activation_function": f"torch.nn.modules.{kind}"}
        weights[f"{number}_Dense/model.safetensors"] = [["linear.bias", "F32", [wider]]] * bias + [
            ["linear.weight", "F32", [wider, width]]]
        width = wider

    def answer(output):
        vector = pooled(output.last_hidden_state[0], mode)
        for wider in dense:
            vector = torch.from_numpy(weight("linear.weight", [wider, len(vector)])) @ vector
            if bias:
                vector = torch.tanh(vector + torch.from_numpy(weight("linear.bias", [wider])))
        return torch.nn.functional.normalize(vector, dim=0) if normalize else vector

    return family(model, rows_for(seed, types), answer, files, weights, **more)


def classifier(model, seed, activation, types=False):
    return family(model, rows_for(seed, types),
                  lambda output: torch.cat([output.logits[0], activation(output.logits[0])]))


def chat_reranker(model, seed, files=None, **more):
    """A chat model whose next word is the answer."""
    def answer(output):
        logits = output.logits[0, -1]
        difference = (logits[YES] - logits[NO]).reshape(1)
        return torch.cat([difference, torch.sigmoid(difference)])

    return family(model, rows_for(seed, False), answer, files, **more)


def softmax(logits):
    return torch.softmax(logits, 0)


def first_nomic_config(saved):
    """The keys with which NomicBERT was published."""
    own = "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBert"
    return {"model_type": "nomic_bert", "architectures": ["NomicBertModel"],
            "auto_map": {"AutoConfig": f"{own}Config", "AutoModel": f"{own}Model"},
            "activation_function": "swiglu", "causal": False, "layer_norm_epsilon": 1e-12,
            "mlp_fc1_bias": False, "mlp_fc2_bias": False, "qkv_proj_bias": False, "prenorm": False,
            "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0, "rotary_emb_scale_base": None,
            "rotary_scaling_factor": None, "n_embd": saved["hidden_size"],
            "n_head": saved["num_attention_heads"], "n_inner": saved["intermediate_size"],
            "n_layer": saved["num_hidden_layers"], "n_positions": saved["max_position_embeddings"],
            "type_vocab_size": saved["type_vocab_size"], "vocab_size": saved["vocab_size"]}


def first_gte_config(saved):
    """The keys with which GTE was published; transformers computes its angles as linear ones."""
    own = "Alibaba-NLP/new-impl--modeling.New"
    kept = {key: value for key, value in saved.items() if key != "rope_parameters"}
    return kept | {"model_type": "new", "architectures": ["NewModel", "NewForTokenClassification"],
                   "auto_map": {"AutoConfig": f"{own}Config", "AutoModel": f"{own}Model"},
                   "rope_theta": 20000, "rope_scaling": {"type": "ntk", "factor": 8.0},
                   "position_embedding_type": "rope", "layer_norm_type": "layer_norm",
                   "logn_attention_scale": False, "pack_qkv": True}


def qwen3_config(saved):
    """As the published folder names itself, though it has no head."""
    return saved | {"architectures": ["Qwen3ForCausalLM"]}


def rotary_families():
    """Those of families whose positions are rotations, ModernBERT aside."""
    t = transformers
    sizes = SIZES | {"max_position_embeddings": 24}
    names = {"id2label": {0: "anger", 1: "joy", 2: "neither"}}
    ntk = {"rope_type": "linear", "factor": 8 ** (2 / 8), "rope_theta": 160000.0}
    heads = sizes | {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12}
    gemma = heads | {"num_hidden_layers": 3, "sliding_window": 6, "sliding_window_pattern": 3,
                     "query_pre_attn_scalar": 10, "use_bidirectional_attention": True}
    nomic = t.NomicBertConfig(**sizes)
    words = {"vocab_size": 9700}
    return {
        "nomic_bert": embedder(t.NomicBertModel(nomic), "mean", 15, types=True),
        "nomic_bert_first": embedder(t.NomicBertModel(nomic), "mean", 16, types=True,
                                     config=first_nomic_config),
        "nomic_bert_classifier": classifier(
            t.NomicBertForSequenceClassification(t.NomicBertConfig(**sizes, **names)), 17, softmax,
            types=True),
        "gte": embedder(t.GteModel(t.GteConfig(**sizes)), "cls", 18),
        "gte_first": embedder(t.GteModel(t.GteConfig(**sizes, rope_parameters=ntk)), "cls", 19,
                              config=first_gte_config),
        "gte_reranker": classifier(t.GteForSequenceClassification(
            t.GteConfig(**sizes, type_vocab_size=0, num_labels=1)), 20, torch.sigmoid),
        "qwen3": embedder(t.Qwen3Model(t.Qwen3Config(**heads)), "lasttoken", 21,
                          dtype=torch.bfloat16, config=qwen3_config),
        "qwen3_reranker": chat_reranker(
            t.Qwen3ForCausalLM(t.Qwen3Config(**heads | words, tie_word_embeddings=True)), 23,
            {"modules.json": [
                {"idx": 0, "name": "0", "path": "",
                 "type": "sentence_transformers.base.modules.transformer.Transformer"},
                {"idx": 1, "name": "1", "path": "1_LogitScore",
                 "type": "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"}],
             "1_LogitScore/config.json": {"true_token_id": YES, "false_token_id": NO}}),
        "qwen3_reranker_untied": chat_reranker(
            t.Qwen3ForCausalLM(t.Qwen3Config(**heads | words, tie_word_embeddings=False)), 24,
            dtype=torch.bfloat16),
        "gemma3": embedder(t.Gemma3TextModel(t.Gemma3TextConfig(**gemma)), "mean", 22,
                           dense=(24, 16), bias=False),
    }


def families():
    """The content of each file, by the file's name."""
    t = transformers
    bert = SIZES | {"max_position_embeddings": 24}
    names = {"id2label": {0: "anger", 1: "joy", 2: "neither"}}
    many = names | {"problem_type": "multi_label_classification"}
    modern = SIZES | {"num_hidden_layers": 4, "global_attn_every_n_layers": 2, "local_attention": 6,
                      "max_position_embeddings": 24, "pad_token_id": 0, "bos_token_id": 1,
                      "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    biased = {"norm_bias": True, "attention_bias": True, "mlp_bias": True, "classifier_bias": True,
              "classifier_pooling": "mean"}
    return {
        "bert_mean": embedder(t.BertModel(t.BertConfig(**bert)), "mean", 1, types=True),
        "bert_dense": embedder(t.BertModel(t.BertConfig(**bert, hidden_act="gelu_new")), "cls", 2,
                               dense=(5,), normalize=False),
        "bert_sharded_bf16": embedder(t.BertModel(t.BertConfig(**bert)), "max", 3,
                                      dtype=torch.bfloat16, shard="10KB"),
        "roberta": embedder(t.RobertaModel(t.RobertaConfig(**KIN)), "cls", 4),
        "xlm_roberta_fp16": embedder(t.XLMRobertaModel(t.XLMRobertaConfig(**KIN)), "mean", 5,
                                     dtype=torch.float16),
        "camembert": embedder(t.CamembertModel(t.CamembertConfig(**KIN)), "lasttoken", 6,
                              normalize=False),
        "distilbert": embedder(t.DistilBertModel(t.DistilBertConfig(**DISTIL)), "mean", 7),
        "mpnet": embedder(t.MPNetModel(t.MPNetConfig(**KIN)), "mean", 8),
        "bert_reranker": classifier(
            t.BertForSequenceClassification(t.BertConfig(**bert, num_labels=1)), 9, torch.sigmoid,
            types=True),
        "roberta_classifier": classifier(
            t.RobertaForSequenceClassification(t.RobertaConfig(**KIN, **names)), 10, softmax),
        "distilbert_classifier": classifier(
            t.DistilBertForSequenceClassification(t.DistilBertConfig(**DISTIL, **names)), 11,
            softmax),
        "mpnet_classifier": classifier(
            t.MPNetForSequenceClassification(t.MPNetConfig(**KIN, **many)), 12, torch.sigmoid),
        "modernbert": embedder(t.ModernBertModel(t.ModernBertConfig(**modern)), "cls", 13),
        "modernbert_classifier": classifier(
            t.ModernBertForSequenceClassification(t.ModernBertConfig(**modern, **biased, **names)),
            14, softmax),
    }


def check(name, content):
    """Compares a file with what is made now; returns whether it is right."""
    told = read(name)
    same = (told["weights"] == content["weights"] and
            [row["input_ids"] for row in told["rows"]] ==
            [row["input_ids"] for row in content["rows"]])
    farthest = max((abs(a - b) for ours, theirs in zip(told["rows"], content["rows"])
                    for a, b in zip(ours["answer"], theirs["answer"])), default=0)
    right = same and farthest <= FARTHEST
    print(f"{name}: {'right' if right else 'WRONG'}, farthest {farthest:.1e}")
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    made = families() | rotary_families()
    if arguments.check:
        sys.exit(0 if all([check(name, content) for name, content in made.items()]) else 1)
    FAMILIES.mkdir(exist_ok=True)
    for name, content in made.items():
        (FAMILIES / f"{name}.json").write_text(text_of(content))


if __name__ == "__main__":
    main()
