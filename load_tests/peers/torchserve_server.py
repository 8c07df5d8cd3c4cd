"""TorchServe: one worker, batches of waiting requests. Needs Java."""

import os
import subprocess
import sys
import sysconfig

from peer_model import BATCH, WAIT_S, parse_arguments

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.dirname(sys.executable)


QUIET = """<Configuration>
  <Appenders><Console name="out"><PatternLayout pattern="%d %p %m%n"/></Console></Appenders>
  <Loggers><Root level="warn"><AppenderRef ref="out"/></Root></Loggers>
</Configuration>
"""  # by default it writes ten lines a request


def write_config(arguments):
    """TorchServe reads its settings, the model's and its log's from three files."""
    folder = arguments.folder
    with open(f"{folder}/log4j2.xml", "w", encoding="utf-8") as file:
        file.write(QUIET)
    with open(f"{folder}/model.yaml", "w", encoding="utf-8") as file:
        file.write(f"minWorkers: 1\nmaxWorkers: 1\nbatchSize: {BATCH}\n"
                   f"maxBatchDelay: {WAIT_S * 1000:.0f}\n")
    with open(f"{folder}/config.properties", "w", encoding="utf-8") as file:
        file.write(f"inference_address=http://127.0.0.1:{arguments.http}\n"
                   f"management_address=http://127.0.0.1:{arguments.grpc}\n"
                   "metrics_address=http://127.0.0.1:0\nenable_grpc=false\n"
                   "disable_token_authorization=true\nenable_envvars_config=false\n")


def main():
    """Packs the model, and becomes the server."""
    arguments = parse_arguments()
    write_config(arguments)
    subprocess.run([f"{BIN}/torch-model-archiver", "--model-name", arguments.name, "--version",
                    "1.0", "--handler", f"{HERE}/torchserve_handler.py", "--config-file",
                    f"{arguments.folder}/model.yaml", "--export-path", arguments.folder], check=True)
    os.environ.update(MPSD_PEERS=HERE, MPSD_PEER_FILE=arguments.path,
                      MPSD_PEER_DATATYPE=arguments.datatype)
    home = sysconfig.get_path("purelib")
    # The command of TorchServe's own launcher, which does not pass signals on.
    os.execvp("java", ["java", f"-Dmodel_server_home={home}",
                       f"-Dlog4j.configurationFile=file://{arguments.folder}/log4j2.xml",
                       "-cp", f"{home}/ts/frontend/*", "org.pytorch.serve.ModelServer",
                       "--python", sys.executable, "-f", f"{arguments.folder}/config.properties",
                       "-s", arguments.folder, "-ncs", "-m",
                       f"{arguments.name}={arguments.name}.mar"])


if __name__ == "__main__":
    main()
