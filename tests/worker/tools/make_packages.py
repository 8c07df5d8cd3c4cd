#!/usr/bin/env python3
"""Makes the .pt2 packages of the tests in DIR, for the cpu or another DEVICE. Needs a full torch.

  make_packages.py DIR [DEVICE]

  mlp.pt2           dynamic batch, with metadata; mlp.pt is the same module as TorchScript, and
                    mlp_expected.bin its answer to rows of 0.5, computed here
  datatypes.pt2     13 inputs, one of each datatype, each given back
  writes.pt2        writes into its input
  no_metadata.pt2   as stock tools write it
  other_machine.pt2, other_device.pt2   mlp.pt2 that says it was compiled elsewhere
  truncated.pt2     the first half of mlp.pt2
"""
import json
import pathlib
import sys
import zipfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "worker/tools"))
import export_model  # noqa: E402


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(20)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(16, 32), torch.nn.LayerNorm(32), torch.nn.ReLU(),
            torch.nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x)


class Datatypes(torch.nn.Module):
    def forward(self, a, b, c, d, e, f, g, h, i, j, k, m, n):
        return (a.clone(), b.clone(), c.clone(), d.clone(), e.clone(), f.clone(), g.clone(),
                h.clone(), i.clone(), j.clone(), k.clone(), m.clone(), n.clone())


class Writes(torch.nn.Module):
    def forward(self, x):
        x.add_(1)
        return x * 2


def edit_metadata(source, target, changes):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for item in old.infolist():
            content = old.read(item)
            if item.filename.endswith("_metadata.json"):
                metadata = json.loads(content)
                if "AOTI_DEVICE_KEY" in metadata:
                    content = json.dumps({**metadata, **changes}).encode()
            new.writestr(item, content)


def main():
    folder = pathlib.Path(sys.argv[1])
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    stamp = folder / ".complete"
    folder.mkdir(parents=True, exist_ok=True)
    sources = (pathlib.Path(__file__), pathlib.Path(export_model.__file__))
    if stamp.exists() and all(stamp.stat().st_mtime > file.stat().st_mtime for file in sources):
        return
    torch.set_num_threads(1)
    rows = [("x", "FP32", [-1, 16])]
    export_model.export_torchscript(Mlp(), folder / "mlp.pt", rows, ["y"])
    export_model.export_package(Mlp(), folder / "mlp.pt2", rows, ["y"], device=device)
    with torch.inference_mode():
        expected = Mlp().eval()(torch.full((1, 16), 0.5))
    (folder / "mlp_expected.bin").write_bytes(expected.numpy().tobytes())

    names = list("abcdefghijkmn")
    inputs = [(name, datatype, [-1, 3])
              for name, datatype in zip(names, export_model.DTYPES, strict=True)]
    export_model.export_package(Datatypes(), folder / "datatypes.pt2", inputs, device=device)
    export_model.export_package(Writes(), folder / "writes.pt2", [("x", "FP32", [-1, 4])],
                                device=device)

    program = torch.export.export(
        Mlp().eval().to(device), (torch.ones(3, 16, device=device),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    torch._inductor.aoti_compile_and_package(
        program, package_path=str(folder / "no_metadata.pt2"),
        inductor_configs={"aot_inductor.link_libtorch": False, "aot_inductor.metadata": {}})

    edit_metadata(folder / "mlp.pt2", folder / "other_machine.pt2", {"AOTI_MACHINE": "toaster64"})
    edit_metadata(folder / "mlp.pt2", folder / "other_device.pt2", {"AOTI_DEVICE_KEY": "cuda"})
    whole = (folder / "mlp.pt2").read_bytes()
    (folder / "truncated.pt2").write_bytes(whole[:len(whole) // 2])
    stamp.touch()


if __name__ == "__main__":
    main()
