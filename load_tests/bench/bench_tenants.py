"""T10: ten models, a few of them asked for most, and two tenants, one of them asking for most.

TenantLoads is a part of bench.py's Bench. The models are synthetic, and their lanes sleep, so that
the host's cores do not decide which tenant is served.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bench_processes import Daemon, run_json
from bench_tokens import access_of_tenants

MODELS = [f"m{number}" for number in range(10)]
ROWS = 4  # rows of a batch
SKEW = 1  # exponent of Zipf's law
TIMES_AS_MUCH = 10
TENANTS = ("victim", "flood")


@dataclass(frozen=True)
class Case:
    """The time of a batch, the victim's calls a second, and their deadline."""

    batch_ms: int
    rate: float
    deadline_ms: int


# In the first case the victim asks for 60 % of the least asked model's rows, so for more than half
# of each model. In the second it asks for 20 % of the most asked model's, so for less than half.
BOTH_TOO_MUCH = Case(batch_ms=160, rate=440, deadline_ms=4000)
ONE_TOO_MUCH = Case(batch_ms=10, rate=240, deadline_ms=1000)


def model(name, batch_ms):
    """One of the models."""
    return {"name": name, "format": "synthetic", "max_batch_size": ROWS,
            "inputs": [{"name": "x", "datatype": "FP32", "shape": [4]}],
            "placement": {"processes": 1, "lanes": 1}, "parameters": {"delay": f"{batch_ms}ms"}}


class TenantLoads:
    """Two tenants at once, and the victim alone."""

    def tenant_load(self, daemon, case, tenant):
        """The report of one tenant's load."""
        rate = case.rate * (TIMES_AS_MUCH if tenant == "flood" else 1)
        command = [f"{self.arguments.binaries}/mpsd-bench", "--json", "--allow-errors",
                   "--target", daemon.grpc, "--token-file", f"{self.folder}/{tenant}",
                   "--model", ",".join(MODELS), "--skew", str(SKEW), "--input", "x:FP32[1,4]",
                   "--rate", str(rate), "--deadline", f"{case.deadline_ms}ms",
                   "--duration", f"{self.arguments.seconds * 1000:.0f}ms", "--warmup", "1s"]
        report, right = run_json(command, self.arguments.seconds + 60)
        if not right or report["wrong"]:
            self.failed.append({"command": command, "errors": report["errors"],
                                "wrong": report["wrong"]})
        return report

    def tenants_of(self, case, who):
        """The reports of these tenants, who load the same daemon at once."""
        models = [model(name, case.batch_ms) for name in MODELS]
        with Daemon(self.arguments.binaries, self.folder, models, name="tenants",
                    access=access_of_tenants(self.folder, TENANTS)) as daemon, ThreadPoolExecutor() as threads:
            return list(threads.map(lambda tenant: self.tenant_load(daemon, case, tenant), who))

    def tenants(self):
        """Each tenant's answers a second if both ask for too much; the victim's p99 alone and
        beside."""
        shares = [report["throughput"] for report in self.tenants_of(BOTH_TOO_MUCH, TENANTS)]
        alone, = self.tenants_of(ONE_TOO_MUCH, TENANTS[:1])
        beside, _ = self.tenants_of(ONE_TOO_MUCH, TENANTS)
        return {"shares": shares, "alone_us": alone["latency_us"]["p99"],
                "beside_us": beside["latency_us"]["p99"]}
