#!/usr/bin/env python3
"""Prints where this Python's torch keeps its libraries and CUDA's, as LD_LIBRARY_PATH wants it."""
import pathlib

import torch

package = pathlib.Path(torch.__file__).parent
print(":".join(map(str, [package / "lib", *sorted(package.parent.glob("nvidia/*/lib"))])))
