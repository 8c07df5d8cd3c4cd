"""The tokens that a daemon knows, and the rules of access for them."""
import hashlib
import os


def write_tokens(path, tokens):
    """Writes the token file of {name: token}."""
    with open(path, "w", encoding="utf-8") as file:
        os.chmod(path, 0o600)
        for name, token in tokens.items():
            file.write(f"{name} {hashlib.sha256(token.encode()).hexdigest()}\n")


def access_of_tenants(folder, tenants):
    """Writes each tenant's token to a file of that name. Returns rules that let all tenants
    infer."""
    write_tokens(f"{folder}/tenants", {tenant: tenant for tenant in tenants})
    for tenant in tenants:
        with open(f"{folder}/{tenant}", "w", encoding="utf-8") as file:
            file.write(tenant)
    return {"tokens": f"{folder}/tenants", "open": ["health", "metrics"],
            "rules": [{"token": tenant, "roles": ["infer"]} for tenant in tenants]}
