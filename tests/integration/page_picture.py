"""Makes docs/pictures/page.png: the page of a daemon with work to do.

Run with: PYTHONPATH=tests/support MPSD_BIN=build/release/bin .deps/venv/bin/python THIS_FILE
"""
import os
import signal
import time

import browser
import calls
from daemon import ROOT, Daemon, wait_until
from models import placement, synthetic

PICTURE = ROOT / "docs/pictures/page.png"
MOST_BYTES = 150_000
WATCHED_S = 45


def main():
    models = [synthetic("encoder", parameters={"delay": "4ms"}, placement=placement(processes=2)),
              synthetic("reranker", parameters={"delay": "12ms"})]
    with Daemon(models, sandbox="off") as daemon, browser.Browser() as page:
        daemon.wait_all_serving()
        page.resize(960, 880)
        page.open(f"http://{daemon.http}/")
        with calls.Load(daemon.address, "encoder", callers=6), \
                calls.Load(daemon.address, "reranker", callers=3):
            time.sleep(WATCHED_S / 3)
            os.kill(daemon.ps()["encoder"]["workers"][1]["pid"], signal.SIGKILL)
            with calls.Load(daemon.address, "reranker", callers=12):
                time.sleep(WATCHED_S / 3)
            time.sleep(WATCHED_S / 3)
            wait_until(lambda: "signal 9" in page.text(), 30, "the killed worker")
            picture = page.picture()
    assert len(picture) < MOST_BYTES, len(picture)
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(picture)
    print(f"{PICTURE}: {len(picture)} bytes")


if __name__ == "__main__":
    main()
