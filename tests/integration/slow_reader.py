"""A client that asks for much: slow_reader.py ADDRESS MODEL CALLS

Says "sent" when its calls are on their way; whoever started it then stops it, and it reads nothing.
"""
import sys
import time

import calls

LIMIT_S = 120


def main():
    address, model, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with calls.stub(address) as stub:
        message = calls.request(model, {"x": calls.row_of(1, width=2)})
        futures = [stub.ModelInfer.future(message, timeout=LIMIT_S) for _ in range(count)]
        print("sent", flush=True)
        time.sleep(LIMIT_S)
        for future in futures:
            future.cancel()


if __name__ == "__main__":
    main()
