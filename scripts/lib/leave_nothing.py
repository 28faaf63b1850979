#!/usr/bin/env python3
"""Runs a command and makes sure that nothing it started outlives it.

    leave_nothing.py [--patience SECONDS] -- COMMAND [ARGUMENT…]

While it runs, orphans below it become its own children (PR_SET_CHILD_SUBREAPER), so whatever is left when the
command has ended is found by kinship, never by name: also what changed its process group or session.
What is left after a short grace is named and ended, and the exit code is 1 even if the command's was 0.
Told to end (SIGTERM, SIGINT, SIGHUP, or its own parent dies), it ends everything below it: SIGTERM first,
SIGKILL after the patience (default 10 s). Exit code: the command's, or 128 + signal.
Where there is no Linux the command simply runs.
"""

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 3.0
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# A compiler cache's server is meant to stay; it is nobody's leftover.
MEANT_TO_STAY = {"sccache"}


class ToldToEnd(Exception):
    """A signal asked this process to end."""


def prctl(option, value):
    ctypes.CDLL(None, use_errno=True).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def start(command):
    pid = os.fork()
    if pid:
        return pid
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        # The shell ignores SIGINT for what it starts with `&`, Python ignores SIGPIPE: the command shall not inherit that.
        for number in (*ENDING, signal.SIGPIPE, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
    os._exit(127)


def descendants():
    """The processes below this one that still run, as {pid: name}. Zombies are none."""
    children, names = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                line = stat.read()
        except OSError:
            continue
        name = line[line.index("(") + 1 : line.rindex(")")]
        state, parent = line[line.rindex(")") + 2 :].split()[:2]
        children.setdefault(int(parent), []).append(int(entry))
        if state not in "ZX":
            names[int(entry)] = name
    found, todo = {}, [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        todo.extend(below)
        found.update({pid: names[pid] for pid in below if pid in names and names[pid] not in MEANT_TO_STAY})
    return found


def reap():
    """Takes the exit statuses that lie ready, so that no zombie counts as a child."""
    statuses = {}
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            statuses[pid] = status
    except ChildProcessError:
        pass
    return statuses


def wait_until_gone(seconds):
    deadline = time.monotonic() + seconds
    while True:
        reap()
        left = descendants()
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def end(processes, number):
    for pid in processes:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def end_all(patience):
    end(descendants(), signal.SIGTERM)
    wait_until_gone(patience)
    # What is killed may just have started something: look again until there is nothing.
    while descendants():
        end(descendants(), signal.SIGKILL)
        wait_until_gone(1.0)


def wait_for(child):
    """Waits for the command while taking in orphans that end; returns its exit code."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def told_to_end(number, _frame):
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise ToldToEnd(number)


def run(command, patience):
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    parent = os.getppid()
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    for number in ENDING:
        signal.signal(number, told_to_end)
    try:
        if os.getppid() != parent:
            raise ToldToEnd(signal.SIGTERM)
        code = wait_for(start(command))
        left = wait_until_gone(GRACE_SECONDS)
        if not left:
            return code
        names = ", ".join(f"{name} ({pid})" for pid, name in sorted(left.items()))
        print(f"left behind by {os.path.basename(command[0])}, ended now: {names}", file=sys.stderr)
        end_all(patience)
        return code or 1
    except ToldToEnd as told:
        end_all(patience)
        return 128 + told.args[0]


def main(arguments):
    patience = 10.0
    if arguments[:1] == ["--patience"] and len(arguments) > 1:
        patience, arguments = float(arguments[1]), arguments[2:]
    if arguments[:1] != ["--"] or len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not sys.platform.startswith("linux"):
        os.execvp(arguments[1], arguments[1:])
    return run(arguments[1:], patience)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
