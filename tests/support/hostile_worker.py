#!/usr/bin/env python3
"""Stands where mpsd-worker should. A model whose parameter `hostile` says how gets a worker that does
not do as it is told; every other one gets the real worker, $MPSD_REAL_WORKER. Asked for the devices
of the host, it says what $MPSD_DEVICES_LINE says."""
import json
import os
import pathlib
import socket
import struct
import sys
import time

HEADER = struct.Struct("<III")
MAGIC, VERSION = 0x4453504D, 1


def order_of(control):
    """The load order, which stays in the socket."""
    while True:
        seen = control.recv(1 << 20, socket.MSG_PEEK)
        if not seen:
            sys.exit(0)
        if len(seen) < HEADER.size:
            continue
        length = HEADER.unpack(seen[:HEADER.size])[2]
        if len(seen) >= HEADER.size + length:
            return json.loads(seen[HEADER.size:HEADER.size + length])
        if len(seen) >= 100_000:  # the kernel holds no more of it at once
            return None


def receive(control):
    """The body of the next message."""
    length = HEADER.unpack(control.recv(HEADER.size, socket.MSG_WAITALL))[2]
    return control.recv(length, socket.MSG_WAITALL)


def send(control, message):
    body = json.dumps(message).encode()
    control.sendall(HEADER.pack(MAGIC, VERSION, len(body)) + body)


def sleep_for_ever(_control):
    while True:
        time.sleep(3600)


def flood_control(control):
    """One message that never ends, byte by byte."""
    control.send(HEADER.pack(MAGIC, VERSION, 4 << 20))
    while True:
        control.send(b"x")


def speak_out_of_turn(control):
    send(control, {"type": "ready"})
    sleep_for_ever(control)


def hang_up(control):
    control.shutdown(socket.SHUT_RDWR)
    control.close()
    os.close(3)
    sleep_for_ever(control)


def flood_output(_control):
    for i in range(20_000):
        sys.stderr.write(f"line {i}\n")
    sys.stderr.flush()
    os._exit(7)


def talk_and_die(_control):
    for i in range(30):
        sys.stderr.write(f"complaint {i}\n")
    sys.stderr.write("\x1b[31mno UTF-8: ")
    sys.stderr.flush()
    os.write(2, b"\xff\n")
    os._exit(7)


def leave_much_behind(_control):
    folder = pathlib.Path(os.environ["TMPDIR"])
    for i in range(20):
        (folder / str(i)).mkdir()
        for j in range(200):
            (folder / str(i) / str(j)).write_bytes(b"x")
    os._exit(7)


def fail_at_length(control):
    receive(control)
    send(control, {"type": "failure", "text": "\x1b[31m" + "x" * 3_000_000})
    sleep_for_ever(control)


def name_its_device_at_length(control):
    receive(control)
    tensors = [{"name": "x", "datatype": "FP32", "shape": [16]}]
    send(control, {"type": "loaded", "device": "\x1b[31m" + "x" * 3_000_000,
                   "spec": {"max_batch_size": 8, "inputs": tensors, "outputs": tensors}})
    receive(control)
    os._exit(7)


def run_fewer_lanes_at_length(control):
    receive(control)
    tensors = [{"name": "x", "datatype": "FP32", "shape": [16]}]
    send(control, {"type": "loaded", "device": "cpu", "lanes": 1,
                   "demotion": "\x1b[31m" + "x" * 3_000_000,
                   "spec": {"max_batch_size": 8, "inputs": tensors, "outputs": tensors}})
    receive(control)
    os._exit(7)


def lose_the_device(_control):
    os._exit(5)


def pretend_to_serve(control, device):
    tensors = [{"name": "x", "datatype": "FP32", "shape": [16]}]
    send(control, {"type": "loaded", "device": device,
                   "spec": {"max_batch_size": 8, "inputs": tensors, "outputs": tensors},
                   "runtime": {"name": "none", "kind": "", "path": "", "driver_guard": "none",
                               "input_memory": "none"}})
    receive(control)
    send(control, {"type": "ready"})
    sleep_for_ever(control)


def lose_the_device_until_healed(control):
    """Pretends to serve once the file `healed` is there."""
    order = json.loads(receive(control))
    if not os.path.exists(order["parameters"]["healed"]):
        os._exit(5)
    pretend_to_serve(control, order["device"])


def serve_where_it_is_told_to(control):
    """Pretends to, unless the folder `lost` has a file with the device's name."""
    order = json.loads(receive(control))
    if os.path.exists(os.path.join(order["parameters"]["lost"], order["device"])):
        os._exit(5)
    pretend_to_serve(control, order["device"])


def main():
    if sys.argv[1:] == ["--devices"]:
        print(os.environ["MPSD_DEVICES_LINE"])
        return
    control = socket.socket(fileno=os.dup(3))
    order = order_of(control)
    how = order["parameters"].get("hostile") if order else "sleep_for_ever"
    if how is None:
        os.execv(os.environ["MPSD_REAL_WORKER"], ["mpsd-worker"])
    globals()[how](control)


if __name__ == "__main__":
    main()
