"""Models in other libraries' formats: files that are made once, by Python with torch."""

import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def export(arguments, script, source, target):
    """Makes the file `target` of the model `source` by `script SOURCE TARGET`, and again if model
    or script is newer. `arguments.peers` is the folder with the Python environments."""
    path = f"{HERE}/{script}"
    weights = f"{source}/model.safetensors" if os.path.isdir(source) else source
    newest = max(map(os.path.getmtime, (weights, path)))
    if os.path.exists(target) and os.path.getmtime(target) > newest:
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(f"{target}.log", "w", encoding="utf-8") as log:
        subprocess.run([f"{arguments.peers}/sentence-transformers/bin/python", path, source,
                        f"{target}.new"], check=True, stdin=subprocess.DEVNULL, timeout=300,
                       stdout=log, stderr=log)
    os.replace(f"{target}.new", target)
