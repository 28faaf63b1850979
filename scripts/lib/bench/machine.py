"""What the machine is, what it is busy with, and how long its disk takes."""

import os
import platform
import statistics
import time

import server

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
SYNCS = 300
QUIET_SHARE = 0.1


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def cpu_seconds(pid):
    """Processor time of all threads of a process, in user and kernel mode."""
    # The name may hold anything but ends with the last parenthesis.
    fields = text_of(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_SECONDS


def resident_bytes(pid):
    return int(text_of(f"/proc/{pid}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Busy:
    """The share of all processors that was at work since this was made."""

    def __init__(self):
        self.began = self.now()

    @staticmethod
    def now():
        ticks = [int(field) for field in text_of("/proc/stat").split("\n", 1)[0].split()[1:9]]
        idle = ticks[3] + ticks[4]
        return sum(ticks), idle

    def share(self):
        total, idle = (now - began for now, began in zip(self.now(), self.began))
        return 1 - idle / total if total else 0.0


def wait_until_quiet(patience):
    """Until what was measured last has done its late work, or somebody else keeps the machine busy anyway."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        busy = Busy()
        time.sleep(0.2)
        if busy.share() < QUIET_SHARE:
            return


def load():
    busy = Busy()
    time.sleep(1)
    return {"loadavg": [float(field) for field in text_of("/proc/loadavg").split()[:3]], "busy": busy.share()}


def fdatasync(directory):
    """Milliseconds that a write of 4 KiB takes to be durable: median and p99."""
    path = os.path.join(directory, "fdatasync")
    times = []
    with open(path, "wb", buffering=0) as file:
        for _ in range(SYNCS):
            file.write(b"\0" * 4096)
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    os.remove(path)
    return {"median_ms": statistics.median(times), "p99_ms": sorted(times)[int(len(times) * 0.99)]}


def description(mongod_host):
    """What figures depend on, and nothing that names this machine."""
    lines = [line.split(":", 1) for line in text_of("/proc/cpuinfo").split("\n") if ":" in line]
    models = [value.strip() for name, value in lines if name.strip() == "model name"]
    memory = int(text_of("/proc/meminfo").split("MemTotal:")[1].split()[0])
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 1024 / 1024),
        "kernel": platform.release().split("-")[0],
        "mongod": server.ask(mongod_host, {"buildInfo": 1}).get("version", "unknown"),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }
