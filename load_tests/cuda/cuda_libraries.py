#!/usr/bin/env python3
"""Prints the folders of torch's and CUDA's libraries in this Python, for LD_LIBRARY_PATH."""
import pathlib

import torch

package = pathlib.Path(torch.__file__).parent
print(":".join(map(str, [package / "lib", *sorted(package.parent.glob("nvidia/*/lib"))])))
