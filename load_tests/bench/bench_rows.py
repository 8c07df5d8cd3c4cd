"""The rows of bench.py's table: each figure with its ceiling and target.

`bench` has the measurements: has(names), values(name, keys) for the rounds, value(name, keys) for
their median, and samples.
"""

from bench_figures import (Row, alone, at_least, at_most, beside, jain, median, paired_ratios,
                           range_text, spread, within)

HOP_US = 0.3
READY_S = 1.5
FRONT_END_MB = 60
IDLE_MB = 70  # H4
REFUSED_US = 8
IDLE_CORES = 0.01
STREAMS = (1, 4, 16, 64)  # T1s
MICRO_NS = 1000
MICRO = (("a decision of the schedule, one lane", "Decide/lanes:1/lines:1"),
         ("a decision, 64 lanes and 8 lines", "Decide/lanes:64/lines:8"),
         ("whether a request is let in, 64 lanes", "LetIn/lanes:64"),
         ("602 112 bytes read off the wire", "ReadWire/602112"))
FORETOLD = 0.15  # how far the simulator may be off


def ceiling_rows(bench):
    """The machine's ceilings, which have no target."""
    rows = []
    if bench.has("futex"):
        for key, text in (("parked_two_cores", "futex round trip, parked, two cores"),
                          ("parked_one_core", "futex round trip, parked, one core"),
                          ("awake_two_cores", "shared word round trip, awake")):
            if key in bench.samples["futex"][0]:
                rows.append(alone("–", text, bench.values("futex", key, "p50_us"),
                                  f"{bench.value('futex', key, 'p50_us'):.2f} us"))
        rows.append(alone("–", "memcpy of 602 112 bytes", memcpy_us(bench),
                          f"{median(memcpy_us(bench)):.1f} us"))
    for name, text in (("echo_c1", "echo, 1 kB, c=1"), ("echo_c64", "echo, 1 kB, c=64"),
                       ("echo_unix_c64", "echo, 1 kB, c=64, Unix socket"),
                       ("echo_image", "echo, 602 112 bytes, c=4")):
        if bench.has(name):
            rows.append(alone("–", text, bench.values(name, "throughput"),
                              f"{bench.value(name, 'throughput'):,.0f} /s, "
                              f"p50 {bench.value(name, 'p50_us'):.0f} us, "
                              f"{bench.value(name, 'cpu_us', 'server'):.1f} us CPU"))
    return rows


def hop_rows(bench):
    """T4: rings, records and doorbells between two processes, without a model."""
    rows = []
    if bench.has("futex") and "hop_awake_two_cores" in bench.samples["futex"][0]:
        awake = bench.values("futex", "hop_awake_two_cores", "p50_us")
        rows.append(at_most("T4", f"hop through the memory plane and back, awake, to {HOP_US} us",
                            awake, [HOP_US] * len(awake), 1, " us"))
        rows.append(at_most("T4", "the same, parked, to the futex round trip",
                            bench.values("futex", "hop_parked_two_cores", "p50_us"),
                            bench.values("futex", "parked_two_cores", "p50_us"), 1.1, " us"))
    return rows


def memcpy_us(bench):
    """The time to copy one image, in each round."""
    return [next(copy["us"] for copy in sample["memcpy"] if copy["bytes"] == 602112)
            for sample in bench.samples["futex"]]


def parked_us(bench):
    """A parked round trip between two cores, or on the only one, in each round."""
    key = "parked_two_cores" if "parked_two_cores" in bench.samples["futex"][0] else "parked"
    return bench.values("futex", key, "p50_us")


def null_rows(bench):
    """T1, T1s, T2, T3 and T5: the null model against the echo."""
    rows = frame_rows(bench)
    if bench.has("echo_c64", "null_c64"):
        rows.append(beside("–", "null, 1 kB, c=64 by gRPC's own client, to the echo",
                             bench.values("null_c64", "throughput"),
                             bench.values("echo_c64", "throughput"), " /s"))
        rows.append(beside("–", "the same: front-end CPU a request",
                            bench.values("null_c64", "cpu_us", "server"),
                            bench.values("echo_c64", "cpu_us", "server"), " us"))
        batches = [mean or 0 for mean in bench.values("null_c64", "mean_batch")]
        rows.append(alone("–", "null, c=64: mean batch, front-end sleeps a request", batches,
                          f"{median(batches):.1f}, "
                          f"{bench.value('null_c64', 'switches', 'server'):.3f}"))
    rows += stream_rows(bench)
    if bench.has("echo_c64", "echo_unix_c64", "null_c64", "null_unix_c64"):
        null, echo = (paired_ratios(bench.values(f"{name}_unix_c64", "throughput"),
                                    bench.values(f"{name}_c64", "throughput"))
                      for name in ("null", "echo"))
        rows.append(Row("–", "the gain by a Unix socket: null, echo", f"{median(null):.2f}",
                        f"{median(echo):.2f}", range=range_text(null)))
    if bench.has("echo_image", "null_image", "futex"):
        ceilings = [echo + memcpy for echo, memcpy in
                    zip(bench.values("echo_image", "cpu_us", "server"), memcpy_us(bench))]
        rows.append(at_most("T3", "602 112 bytes: front-end CPU to echo's + one memcpy",
                            bench.values("null_image", "cpu_us", "server"), ceilings, 0.7, " us"))
    if bench.has("echo_large", "null_large"):
        rows.append(at_least("T3", "16 MiB there and back, c=1, to the echo",
                             bench.values("null_large", "throughput"),
                             bench.values("echo_large", "throughput"), 1.5, " /s"))
    if bench.has("echo_c1", "null_c1", "futex"):
        ceilings = [echo + parked for echo, parked in
                    zip(bench.values("echo_c1", "p50_us"), parked_us(bench))]
        rows.append(at_most("T5", "null, c=1, p50 to echo + parked round trip",
                            bench.values("null_c1", "p50_us"), ceilings, 0.85, " us"))
    return rows


def frame_rows(bench):
    """T1 and T2: 64 calls at a time by a client that costs less than the servers."""
    rows = []
    if bench.has("frames_echo_c64", "frames_null_c64"):
        null, echo = "frames_null_c64", "frames_echo_c64"
        rows += [at_least("T1", "null, 1 kB, c=64, to the echo", bench.values(null, "throughput"),
                          bench.values(echo, "throughput"), 1.35, " /s"),
                 at_most("T2", "front-end CPU a request to the echo's",
                         bench.values(null, "cpu_us", "server"),
                         bench.values(echo, "cpu_us", "server"), 0.65, " us")]
    if bench.has("frames_refused_c64"):
        refused = bench.values("frames_refused_c64", "cpu_us", "server")
        rows.append(at_most("–", f"a refused call: front-end CPU to {REFUSED_US} us", refused,
                            [REFUSED_US] * len(refused), 1, " us"))
    return rows


def stream_rows(bench):
    """T1s: the null model over streams to T1, by the number of streams, each with a connection.

    The cost of the connections themselves is in the row beside: the echo over as many.
    """
    rows = []
    for streams in STREAMS:
        name = f"null_streams{streams}_c64"
        if bench.has("null_c64", name):
            served = bench.values(name, "throughput")
            # Measurements of the first round alone are compared with that round.
            unary = bench.values("null_c64", "throughput")[:len(served)]
            rows.append(at_least("T1s", f"null over {streams} stream{'s' * (streams > 1)}, to T1",
                                 served, unary, 1.3, " /s"))
        echo = f"echo_connections{streams}_c64"
        if bench.has(name, echo):
            rows.append(beside("–", f"the same to the echo over {streams} connections",
                               bench.values(name, "throughput"),
                               bench.values(echo, "throughput"), " /s"))
    return rows


def beside_echo(bench, name, text, target):
    """A load over HTTP to the echo of the same bytes: calls a second, and their cost."""
    load, echo = f"http_{name}_c64", f"http_{name}_echo_c64"
    if not bench.has(load, echo):
        return []
    number = "H1" if name == "null" else "H2"
    cpu = [bench.values(which, "cpu_us", "server") for which in (load, echo)]
    return [at_least(number, f"{text}, c=64, to Beast's echo", bench.values(load, "throughput"),
                     bench.values(echo, "throughput"), target, " /s"),
            beside("–", "the same: front-end CPU a request", *cpu, " us")]


def http_rows(bench):
    """H1, H2 and H3: the door of HTTP against Beast's echo and against gRPC."""
    rows = beside_echo(bench, "null", "HTTP null, 1 kB in binary", 0.7)
    if bench.has("http_null_c64", "null_c64"):
        rows.append(at_least("H1", "the same to gRPC, c=64",
                             bench.values("http_null_c64", "throughput"),
                             bench.values("null_c64", "throughput"), 0.8, " /s"))
    rows += beside_echo(bench, "json", "HTTP, 384 floats in JSON in and out", 0.6)
    rows += beside_echo(bench, "vector", "HTTP, 384 floats in binary in, in JSON out", 0.6)
    if bench.has("http_null_c1", "null_c1"):
        rows.append(at_most("H3", "HTTP null, c=1, p50 to gRPC's",
                            bench.values("http_null_c1", "p50_us"),
                            bench.values("null_c1", "p50_us"), 1, " us"))
    return rows


def micro_rows(bench):
    """Single parts of a request's path on one core, without a server."""
    if not bench.has("micro"):
        return []
    rows = [at_most("H2", "an answer of 384 floats in JSON, to a fifth of nlohmann's time",
                    bench.values("micro", "WriteAnswer"),
                    [time / 5 for time in bench.values("micro", "WriteAnswerByNlohmann")], 1, " ns")]
    for text, name in MICRO:
        times = bench.values("micro", name)
        rows.append(at_most("–", f"{text}, to {MICRO_NS:,} ns", times, [MICRO_NS] * len(times), 1, " ns"))
    return rows


def silence_rows(bench, name, protocol):
    """H4: ten thousand silent connections."""
    sizes, cores = bench.values(name, "resident_mb"), bench.values(name, "cores")
    return [at_most("H4", f"10,000 idle connections of {protocol}: the front end's memory "
                    f"({bench.value(name, 'before_mb'):.0f} MB without them)", sizes,
                    [IDLE_MB] * len(sizes), 1, " MB"),
            alone("H4", "the same: its CPU", [share * 100 for share in cores],
                  f"{median(cores) * 100:.2f} % of a core", f"≤ {IDLE_CORES * 100:g} %",
                  median(cores) <= IDLE_CORES)]


def idle_rows(bench):
    """H4: silent connections; beside the silent ones of HTTP/1.1, two thousand active ones."""
    rows = []
    if bench.has("http_idle"):
        active = bench.values("http_idle", "active")
        lost = sum(load["refused"] + load["broken"] for load in active)
        still_open = min(bench.values("http_idle", "open"))
        rows += silence_rows(bench, "http_idle", "HTTP/1.1")
        rows.append(Row("H4", "2,000 active beside them: calls without an answer; idle ones left",
                        f"{lost} ({median([load['throughput'] for load in active]):,.0f} /s); "
                        f"{still_open:,}", target="0; 10,000",
                        met=lost == 0 and still_open == 10000))
    if bench.has("http2_idle"):
        rows += silence_rows(bench, "http2_idle", "HTTP/2")
        left = min(bench.values("http2_idle", "open"))
        rows.append(Row("H4", "the same: connections that are left", f"{left:,}", target="10,000",
                        met=left == 10000))
    return rows


def step_rows(bench):
    """Two null models one after the other, against one."""
    rows = []
    if bench.has("steps_c1", "null_c1"):
        rows.append(at_most("–", "two null models in steps, c=1, p50 to one",
                            bench.values("steps_c1", "p50_us"), bench.values("null_c1", "p50_us"),
                            1.6, " us"))
    if bench.has("steps_c64", "null_c64"):
        rows.append(at_least("–", "two null models in steps, c=64, to one",
                             bench.values("steps_c64", "throughput"),
                             bench.values("null_c64", "throughput"), 0.6, " /s"))
    return rows


def beside_bare_loop(bench, name, quantity, bare="bare_1"):
    """A row without a target: calls a second to the bare loop's, at b=1 unless `bare` says
    otherwise."""
    return beside("–", quantity, bench.values(name, "throughput"), bench.values(name, bare), " /s")


def mlp_rows(bench):
    """T6 and T7."""
    served, first, same, largest = (bench.values("mlp_c128", key) for key in
                                    ("throughput", "bare_1", "bare_same", "bare_64"))
    mean = bench.value("mlp_c128", "mean_batch") or 0
    sample_us = 1e6 / median(same)
    return [at_least("T6", f"MLP, c=128, to the bare loop at its mean batch {mean:.1f} "
                     f"({sample_us:.0f} us a sample)", served, same,
                     0.95 if sample_us >= 100 else 0.85, " /s"),
            at_least("T7", "gain from batching to the bare loop's (b=64 over b=1)",
                     [rate / one for rate, one in zip(served, first)],
                     [rate / one for rate, one in zip(largest, first)], 0.9, " x"),
            alone("–", "MLP, c=128: p50, p99",
                  [p50_us / 1e3 for p50_us in bench.values("mlp_c128", "p50_us")],
                  f"{bench.value('mlp_c128', 'p50_us') / 1e3:.1f} ms, "
                  f"{bench.value('mlp_c128', 'p99_us') / 1e3:.1f} ms")]


def closed_loop_rows(bench):
    """S1: clients of one row each, against the bare loop at the batch that they make."""
    targets = {16: 0.85, 64: 0.90, 256: 0.95}
    return [at_least("S1", f"MLP, {clients} clients in a closed loop, to the bare loop at "
                     f"{min(clients, 64)} rows (p50 "
                     f"{bench.value(f'mlp_c{clients}', 'p50_us') / 1e3:.1f} ms)",
                     bench.values(f"mlp_c{clients}", "throughput"),
                     bench.values(f"mlp_c{clients}", "bare_same"), target, " /s")
            for clients, target in targets.items() if bench.has(f"mlp_c{clients}")]


def foretold_rows(bench, foretold):
    """Measurements of mlp_c16 and the like, to the simulator's reports: {name: report}."""
    return [within("–", f"MLP, {name.partition('_c')[2]} clients, to what the simulator foretells",
                   bench.value(name, "throughput"), report["throughput"], FORETOLD, " /s")
            for name, report in foretold.items()]


def tenant_rows(bench):
    """T10: two tenants of ten models."""
    if not bench.has("tenants"):
        return []
    shares = bench.values("tenants", "shares")
    return [at_least("T10", "two tenants that both ask for too much, 1:10, of ten models: Jain's "
                     "index of their lane time", [jain(pair) for pair in shares], [1] * len(shares),
                     0.95),
            at_most("T10", "p99 of one that asks for less than its share, beside one that asks for "
                    "ten times as much, to its p99 alone", bench.values("tenants", "beside_us"),
                    bench.values("tenants", "alone_us"), 1.5, " us")]


def model_rows(bench):
    """S1, T6, T7, T13 and MiniLM: real models against the bare loop."""
    rows = closed_loop_rows(bench) + (mlp_rows(bench) if bench.has("mlp_c128") else [])
    if bench.has("mlp_c1"):
        rows.append(beside_bare_loop(bench, "mlp_c1", "MLP, c=1, to the bare loop at b=1"))
    if bench.has("minilm"):
        mean = bench.value("minilm", "mean_batch") or 0
        rows.append(beside_bare_loop(bench, "minilm", "MiniLM, lengths 8 16 30 100, c=64, to a bare "
                                     "lane at b=1"))
        rows.append(beside_bare_loop(bench, "minilm", "the same to a bare lane at its mean batch "
                                     f"{mean:.1f}, each length alone", "bare_same"))
    if bench.has("start"):
        ready = bench.values("start", "ready_s")
        rows.append(at_most("T13", "start to ready, small model", ready, [READY_S] * len(ready), 1,
                            " s"))
        sizes = [size for size in bench.values("start", "own_mb") if size is not None]
        if sizes:
            rows.append(at_most("T15", "a front end with that model: its memory without segments",
                                sizes, [FRONT_END_MB] * len(sizes), 1, " MB"))
    return rows


def reload_rows(bench):
    """T14: a reload a second under load."""
    if not bench.has("reload"):
        return []
    faults = [f"{count} {fault}" for pair in bench.values("reload", "failed") for load in pair
              for fault, count in load.items()]
    swapped, refused = (sum(bench.values("reload", key)) for key in ("swapped", "refused"))
    return [at_most("T14", "p99 while the model is loaded anew each second, to its p99 without",
                    bench.values("reload", "during_us"), bench.values("reload", "before_us"), 1.5,
                    " us"),
            Row("T14", "the same: calls that failed; generations swapped in, reloads refused",
                f"{', '.join(faults) or 0}; {swapped}, {refused}", target="0; > 0, 0",
                met=not faults and swapped > 0 and refused == 0)]


def rows_of_sweep(sweep):
    """T8: goodput under one deadline, at its peak and in overload, and the forecast."""
    at_peak = max(sweep.points, key=lambda point: point["goodput"])
    peak = at_peak["goodput"]
    name = f"{sweep.name}, goodput under {sweep.slo_us / 1e3:.1f} ms, Poisson"
    return [at_least("T8", f"{name}, at {at_peak['percent']} % offered, to the most that "
                     "any schedule reaches", [peak], [at_peak["bound"]], 0.9, " /s"),
            *(at_least("T8", f"the same at {percent} % offered, to its peak",
                       [sweep.at(percent)["goodput"]], [peak], 0.9, " /s")
              for percent in (150, 200, 300)),
            *(within("–", f"the same at {percent} % offered, to what the simulator foretells",
                     sweep.at(percent)["goodput"], sweep.at(percent)["foretold"], FORETOLD, " /s")
              for percent in (75, 150))]


def sweep_rows(sweeps):
    """T8, by deadline."""
    return [row for sweep in sweeps for row in rows_of_sweep(sweep)]


def honesty_rows(bench, wakeups):
    """Rows for faults that must not have happened, and for the difference of the rounds."""
    widest = max(((spread(bench.values(name, "throughput")), name) for name in bench.samples
                  if name != "sweep" and "throughput" in bench.samples[name][0]), default=(0, "–"))
    rows = [Row("–", "loads with failed or wrong answers", str(len(bench.failed)), target="0",
                met=not bench.failed),
            Row("–", "widest range of the rounds' throughput",
                f"{widest[0] * 100:.0f} %, {widest[1]}")]
    if wakeups is not None:
        rows.insert(0, Row("T9", "wake-ups that came by time-out", f"{wakeups:.0f}", target="0",
                           met=wakeups == 0))
    return rows


# The targets that this table lacks, in part or as a whole, and the scripts for the rest.
ELSEWHERE = (("T9", "workers killed under load", "load_tests/longer/kill_cycles.py"),
             ("T11", "lanes and processes of a GPU", "load_tests/cuda/cuda_figures.sh"),
             ("T12", "how lanes and processes scale", "load_tests/cuda/cuda_figures.sh"),
             ("T15", "memory after 1,000 loads and unloads", "load_tests/longer/reload_bench.py"),
             ("T16", "start of 100 models", "no script here"))
HERE = ("T1", "T1s", "T2", "T3", "T4", "T5", "T6", "T7", "S1", "T8", "T9", "T10", "T13", "T14", "T15")


def missing_rows(rows):
    """Rows that name the missing targets, so that nobody takes them for met."""
    numbers = {row.number for row in rows}
    left_out = [number for number in HERE if number not in numbers]
    missing = [Row(number, what, "not measured", ceiling=script)
               for number, what, script in ELSEWHERE]
    if left_out:
        missing.append(Row("–", "targets that this run left out", ", ".join(left_out)))
    return missing
