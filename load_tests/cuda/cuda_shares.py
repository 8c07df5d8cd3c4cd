"""A chat and a batch job on one CUDA device: without weights, with them, and one batch at a time.

cuda_shares.py, in the environment that cuda_figures.sh makes:
  PARTS="models shares" cuda_figures.sh FOLDER
The chat is one row of 128 tokens a request, at random times. The job is an endless series of
batches of 128 rows in FP32. Prints the chat's latency, and how many of the job's rows were
answered.
"""
import threading

from bench_processes import metric
from cuda_figures import attempt, bench, figure, serving, stanza

CHATS_PER_SECOND = 200
JOB_CLIENTS = 16


def chat_of(daemon):
    """The report of the chat's calls."""
    return bench(daemon, "minilm_1", "minilm", 1, "--rate", str(CHATS_PER_SECOND))


def beside(daemon):
    """The chat's report while the job runs, and the job's report."""
    reports = {}

    def work():
        reports["job"] = bench(daemon, "minilm_128", "minilm", 128, "--concurrency",
                               str(JOB_CLIENTS))

    thread = threading.Thread(target=work)
    thread.start()
    reports["chat"] = chat_of(daemon)
    thread.join()
    return reports["chat"], reports["job"]


def share_of(what, weights=None, **config):
    """The chat alone and beside the job, with these weights of chat and job."""
    models = [stanza("minilm", rows, 1, 4, **({"weight": weight} if weight else {}))
              for rows, weight in zip((1, 128), weights or (None, None))]
    with serving(models, **config) as daemon:
        alone, alone_good = chat_of(daemon)
        (chat, chat_good), (job, job_good) = beside(daemon)
        figure("shares", what=what, good=alone_good and chat_good and job_good,
               alone_p50_us=alone["latency_us"]["p50"], alone_p99_us=alone["latency_us"]["p99"],
               chat_p50_us=chat["latency_us"]["p50"], chat_p99_us=chat["latency_us"]["p99"],
               chat_per_second=chat["throughput"], job_rows_per_second=job["throughput"] * 128,
               waits=[metric(daemon.metrics(), f'mpsd_resource_waits_total{{model="minilm_{rows}",'
                                               'version="1"}') for rows in (1, 128)])


def shares():
    """All three."""
    attempt("no weights", share_of, "no weights")
    attempt("9 to 1", share_of, "9 to 1", (9, 1))
    attempt("one at a time", lambda: share_of("9 to 1, one batch at a time", (9, 1),
                                              device_share={"cuda:0": 1}))


if __name__ == "__main__":
    shares()
