"""Models that people serve, small and with random weights, as the graphs that torch.jit makes.

GRAPHS has each by its name. What is made here is what is counted (module_census.py) and what the
worker reads (census_test.py).
"""
import contextlib
import dataclasses
import typing

import torch
import torchaudio
import torchvision
import transformers
from torch import nn
from torchvision.models import convnext, swin_transformer

GRAPHS = {}
TOKENS = torch.arange(8).reshape(1, 8)
WIDTH = 16


@dataclasses.dataclass
class Graph:
    """A module, how its graph is made, and which of its classes are attention."""
    make: typing.Callable[[], nn.Module]
    inputs: dict[str, torch.Tensor]
    attention: tuple[str, ...] = ()
    scripted: bool = False
    known: bool = True  # what it calls can be told before it runs
    fast_path: bool = True  # nn.MultiheadAttention and nn.TransformerEncoderLayer as one operator

    def module(self):
        torch.manual_seed(7)
        return self.make().eval()

    @contextlib.contextmanager
    def ways(self):
        """While forward runs: the ways that libtorch may take."""
        before = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(self.fast_path)
        try:
            with torch.no_grad():
                yield
        finally:
            torch.backends.mha.set_fastpath_enabled(before)

    def compiled(self):
        """The module of TorchScript."""
        with self.ways():
            if self.scripted:
                return torch.jit.script(self.module())
            return torch.jit.trace(self.module(), tuple(self.inputs.values()))


def add(name, make, inputs, *attention, **options):
    GRAPHS[name] = Graph(make, inputs, attention, **options)


class OfTokens(nn.Module):
    """One of Hugging Face's models, whose answer is its first tensor."""

    def __init__(self, model, **arguments):
        super().__init__()
        self.model = model
        self.arguments = arguments

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask, return_dict=False,
                          **self.arguments)[0]


class OfFloats(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x, return_dict=False)[0]


def add_text_models():
    inputs = {"input_ids": TOKENS, "attention_mask": torch.ones_like(TOKENS)}
    sizes = {"vocab_size": 60, "hidden_size": WIDTH, "num_hidden_layers": 2,
             "num_attention_heads": 2, "intermediate_size": 24}
    small_gpt2 = {"vocab_size": 60, "n_embd": WIDTH, "n_layer": 2, "n_head": 2}
    families = {
        "bert": (transformers.BertForTokenClassification, transformers.BertConfig(**sizes), {},
                 "BertSelfAttention"),
        "roberta": (transformers.RobertaForSequenceClassification,
                    transformers.RobertaConfig(**sizes), {}, "RobertaSelfAttention"),
        "distilbert": (transformers.DistilBertModel,
                       transformers.DistilBertConfig(vocab_size=60, dim=WIDTH, n_layers=2,
                                                     n_heads=2, hidden_dim=24), {},
                       "DistilBertSelfAttention"),
        "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config(**small_gpt2),
                 {"use_cache": False}, "GPT2Attention"),
        "llama": (transformers.LlamaForCausalLM,
                  transformers.LlamaConfig(**sizes, num_key_value_heads=1), {"use_cache": False},
                  "LlamaAttention"),
        "clip_text": (transformers.CLIPTextModel, transformers.CLIPTextConfig(**sizes), {},
                      "CLIPAttention"),
    }
    for family, (model, config, arguments, attention) in families.items():
        for way in ("eager", "sdpa"):
            def make(model=model, config=config, arguments=arguments, way=way):
                config._attn_implementation = way  # pylint: disable=protected-access
                return OfTokens(model(config), **arguments)
            add(f"{family}_{way}", make, inputs, attention)
    add("t5_encoder", lambda: OfTokens(transformers.T5EncoderModel(transformers.T5Config(
        vocab_size=60, d_model=WIDTH, d_kv=8, d_ff=24, num_layers=2, num_heads=2))),
        inputs, "T5Attention")


def add_picture_models():
    picture = {"x": torch.rand(1, 3, 32, 32)}
    for way in ("eager", "sdpa"):
        add(f"vit_{way}", lambda way=way: OfFloats(transformers.ViTForImageClassification(
            transformers.ViTConfig(
                hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2,
                intermediate_size=24, image_size=32, patch_size=8, attn_implementation=way))),
            picture, "ViTAttention")
    add("vit_torchvision", lambda: torchvision.models.VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=WIDTH, mlp_dim=24),
        picture, "MultiheadAttention")
    for scripted in (False, True):
        add("resnet18_scripted" if scripted else "resnet18", torchvision.models.resnet18, picture,
            scripted=scripted)
    add("mobilenet_v3", torchvision.models.mobilenet_v3_small, picture)
    # As deep as convnext_tiny and swin_t, and not as wide.
    add("convnext_tiny", lambda: torchvision.models.ConvNeXt(
        [convnext.CNBlockConfig(*block) for block in ((8, 16, 3), (16, 32, 3), (32, 64, 9),
                                                      (64, None, 3))]), picture)
    add("swin_t", lambda: swin_transformer.SwinTransformer(
        [4, 4], 8, [2, 2, 6, 2], [1, 2, 2, 4], [7, 7], stochastic_depth_prob=0.2),
        {"x": torch.rand(1, 3, 64, 64)}, "ShiftedWindowAttention")
    add("u_net", UNet, picture, "PixelAttention")


class UNet(nn.Module):
    """Down twice, up twice, with what was seen on the way down, and attention at the bottom as
    diffusion models have it."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.down = nn.ModuleList(nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
                                  for width in (8, 16))
        self.bottom = PixelAttention(32)
        self.up = nn.ModuleList(nn.ConvTranspose2d(width, width // 2, 2, stride=2)
                                for width in (32, 16))
        self.join = nn.ModuleList(nn.Conv2d(2 * width, width, 1) for width in (16, 8))
        self.last = nn.Conv2d(8, 3, 1)

    def forward(self, x):
        x = self.first(x)
        seen = []
        for down in self.down:
            seen.append(x)
            x = torch.relu(down(x))
        x = self.bottom(x)
        for up, join in zip(self.up, self.join):
            x = torch.relu(join(torch.cat([up(x), seen.pop()], 1)))
        return self.last(x)


class PixelAttention(nn.Module):
    """Attention of pixels, written with products of matrices."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.GroupNorm(2, width)
        self.all = nn.Conv2d(width, 3 * width, 1)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x):
        q, k, v = self.all(self.norm(x)).flatten(2).chunk(3, 1)
        weights = torch.softmax(torch.einsum("bci,bcj->bij", q, k) * q.shape[1] ** -0.5, -1)
        return x + self.out(torch.einsum("bij,bcj->bci", weights, v).reshape(x.shape))


def add_sound_models():
    add("whisper_encoder", lambda: OfFloats(transformers.models.whisper.modeling_whisper.
                                            WhisperEncoder(transformers.WhisperConfig(
                                                num_mel_bins=8, d_model=WIDTH, encoder_layers=2,
                                                encoder_attention_heads=2, encoder_ffn_dim=24,
                                                max_source_positions=10))),
        {"x": torch.rand(1, 8, 20)}, "WhisperAttention")
    for scripted in (False, True):
        add("conformer_scripted" if scripted else "conformer",
            OfFrames, {"x": torch.rand(1, 8, WIDTH)}, "MultiheadAttention", scripted=scripted)


class OfFrames(nn.Module):
    """torchaudio's conformer, each of whose rows is as long as all."""

    def __init__(self):
        super().__init__()
        self.model = torchaudio.models.Conformer(WIDTH, 2, 24, 2, 3)

    def forward(self, x):
        lengths = torch.full((x.size(0),), x.size(1), dtype=torch.int64)
        return self.model(x, lengths)[0]


class WithItself(nn.Module):
    """Attention of a sequence to itself."""

    def __init__(self, need_weights):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.need_weights = need_weights

    def forward(self, x):
        return self.attention(x, x, x, need_weights=self.need_weights)[0]


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerDecoderLayer(WIDTH, 2, 24, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2, norm=nn.LayerNorm(WIDTH))

    def forward(self, x, memory):
        return self.decoder(x, memory)


def encoder():
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 24, batch_first=True)
    return nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(WIDTH))


def add_torch_layers():
    x = {"x": torch.rand(1, 8, WIDTH)}
    add("encoder_as_one_operator", encoder, x, "TransformerEncoderLayer")
    add("encoder", encoder, x, "MultiheadAttention", fast_path=False)
    add("encoder_scripted", encoder, {"src": x["x"]}, "MultiheadAttention", scripted=True,
        fast_path=False)
    for needed in (False, True):
        name = "attention_with_weights" if needed else "attention"
        add(f"{name}_as_one_operator", lambda needed=needed: WithItself(needed), x,
            "MultiheadAttention")
        add(name, lambda needed=needed: WithItself(needed), x, "MultiheadAttention",
            fast_path=False)
    add("attention_scripted", lambda: WithItself(True), x, "MultiheadAttention", scripted=True,
        fast_path=False)
    add("decoder", Decoder, {**x, "memory": torch.rand(1, 6, WIDTH)}, "MultiheadAttention")
    add("lstm", Recurrent, x)
    add("fork", Forks, x, scripted=True)
    add("interface", BehindAnInterface, x, scripted=True)
    add("interface_that_changes", ChangingInterface, x, scripted=True, known=False)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(WIDTH, 8, batch_first=True)
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        return self.out(self.lstm(x)[0])


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.norm(x)).contiguous()


class Forks(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        started = torch.jit.fork(self.part, x)
        return self.part(x) + torch.jit.wait(started)


@torch.jit.interface
class Layer(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class BehindAnInterface(nn.Module):
    layer: Layer

    def __init__(self):
        super().__init__()
        self.layer = Part()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer.forward(x)


class ChangingInterface(nn.Module):
    """Which layer is called shows when it runs."""
    layer: Layer
    other: Layer

    def __init__(self):
        super().__init__()
        self.layer = Part()
        self.other = Part()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer.forward(x)
        self.layer = self.other
        return y


add_text_models()
add_picture_models()
add_sound_models()
add_torch_layers()
