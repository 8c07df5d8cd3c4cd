"""The stanzas of a config's `models`."""
import daemon


def tensor(name, shape, datatype="FP32"):
    return {"name": name, "datatype": datatype, "shape": list(shape)}


def synthetic(name, inputs=None, max_batch_size=8, parameters=None, **more):
    """Gives back what it gets: x in, OUTPUT0 out, unless `inputs` says otherwise. It has one lane,
    however many cores the host has, unless a placement says otherwise."""
    return {"name": name, "format": "synthetic", "device": "cpu", "max_batch_size": max_batch_size,
            "warmup": "none", "inputs": inputs or [tensor("x", [16])],
            "parameters": parameters or {}, "placement": {"lanes": 1}, **more}


def repeating(name, parameters=None, **more):
    """Decoupled: answers once for each element of IN."""
    return {"name": name, "format": "synthetic", "device": "cpu", "warmup": "smallest",
            "decoupled": True,
            "inputs": [tensor("IN", [-1], "INT32"), tensor("DELAY", [-1], "UINT32"),
                       tensor("WAIT", [1], "UINT32")],
            "parameters": {"repeat": "true", **(parameters or {})}, **more}


def torchscript(name, file=None, **more):
    return {"name": name, "path": str(daemon.MODELS / f"{file or name}.pt"), "device": "cpu",
            **more}


def huggingface(name, folder=None, **more):
    return {"name": name, "path": str(daemon.MODELS / (folder or name)), "device": "cpu", **more}


def placement(processes=1, lanes=1, threads=1):
    return {"processes": processes, "lanes": lanes, "threads": threads}
