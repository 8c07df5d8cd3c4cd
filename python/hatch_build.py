"""The wheel holds programs, so it is for one kind of machine, and for every Python 3."""
import pathlib
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProgramsHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if not pathlib.Path(self.root, "mpsd/bin/mpsd").exists():
            raise FileNotFoundError("there are no programs here; use `./run package wheel`")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
