"""Changes the config of a container, as umoci writes it, into the one that docs/install.md runs.
bundle.py CONFIG MODEL: MODEL is a folder, which becomes /models/minilm."""
import json
import sys


def tmpfs(folder, *options):
    return {"destination": folder, "type": "tmpfs", "source": "tmpfs",
            "options": ["nosuid", "nodev", *options]}


def main(config_file, model):
    with open(config_file) as file:
        config = json.load(file)
    process = config["process"]
    process["terminal"] = False
    process["args"][1:] = ["serve", "/models/minilm", "--host", "0.0.0.0", "--plaintext"]
    config["root"]["readonly"] = True
    config["mounts"] += [
        tmpfs("/tmp", "mode=1777"),
        tmpfs("/cache", "mode=700", f"uid={process['user']['uid']}"),
        {"destination": "/models/minilm", "type": "bind", "source": model, "options": ["rbind", "ro"]},
    ]
    with open(config_file, "w") as file:
        json.dump(config, file)


main(*sys.argv[1:])
