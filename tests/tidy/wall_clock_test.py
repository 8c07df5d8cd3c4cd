#!/usr/bin/env python3
"""A changed date moves no deadline: few files ask for the date, and this list says what for."""
import re
import sys

import tree

WALL = re.compile(r"\babsl::Now\(|\bsystem_clock\b|\bCLOCK_REALTIME\b|\bgettimeofday\b|"
                  r"(?<![\w.>])(?:std::)?time\((?:nullptr|NULL|0)\)")
FOLDERS = ("proto", "server", "worker", "copier", "text")
COMMENT = re.compile(r"//[^\n]*")
# Where the date is, and what for. Libraries turn such a time into one of their own at once.
ALLOWED = {
    "server/accept/grpc_server.cc": "gRPC's time of its end",
    "server/accept/watchers.cc": "gRPC's alarm",
    "server/control/status_methods.cc": "when the daemon started, for people",
    "server/http/connections/certificate_source.cc": "whether a file's stamp is too new to be certain",
    "server/models/reload/reloader.cc": "when a reload ended, for people",
    "server/pool/reply/answer_step.cc": "when a model last ran, for statistics",
    "server/compose/steps/step_run.cc": "likewise",
    "server/telemetry/collector/metrics_exporter.cc": "the times of figures",
    "server/telemetry/log/log.cc": "the time of a line",
    "server/telemetry/log/request_log.cc": "the time of a line",
    "server/telemetry/log/trace_log.cc": "the times of spans",
    "server/telemetry/metrics_page.cc": "when the daemon started, for people",
}


def check(root):
    complaints = []
    for path, text in tree.sources(root, FOLDERS):
        if str(path) in ALLOWED:
            continue
        code = COMMENT.sub("", text)
        for match in WALL.finditer(code):
            complaints.append(f"{path}:{tree.line_of(code, match.start())}: '{match[0]}': "
                              "time is Clock's, which no date moves")
    return complaints


def self_test():
    def planted(text, *wanted, name="server/a.cc"):
        tree.expect(check, {name: text}, *wanted)

    planted("int64_t now_ns = clock->NowNs();\n// never absl::Now()\n")
    planted("auto now = absl::Now();\n", "server/a.cc:1: 'absl::Now('")
    planted("clock_gettime(CLOCK_REALTIME, &time);\n", "'CLOCK_REALTIME'")
    planted("std::chrono::system_clock::now();\n", "'system_clock'")
    planted("srand(time(nullptr));\n", "'time(nullptr)'")
    planted("int64_t runtime(0); double time(1);\n")
    planted("auto now = absl::Now();\n", name="server/models/reload/reloader.cc")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
