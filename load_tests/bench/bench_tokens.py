"""The file of the tokens that a daemon knows."""
import hashlib
import os


def write_tokens(path, tokens):
    """Of {name: token}."""
    with open(path, "w", encoding="utf-8") as file:
        os.chmod(path, 0o600)
        for name, token in tokens.items():
            file.write(f"{name} {hashlib.sha256(token.encode()).hexdigest()}\n")
