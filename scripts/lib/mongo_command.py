#!/usr/bin/env python3
"""Sends one command to a MongoDB server and prints the reply as JSON.

    mongo_command.py HOST[:PORT] '{"ping": 1}' [FIELD.IN.THE.REPLY]

The command runs in the database `admin`, or in the one that it names as `$db`, without authentication or TLS. With a
field only that field is printed, a string without quotes; a field that is not there prints nothing. A timestamp is
written as MongoDB's Extended JSON has it: {"$timestamp": {"t": SECONDS, "i": COUNT}}.
Exit codes: 0 the server did it, 1 the server refused, 2 wrong usage, 3 no server answered.

Nothing but the standard library: a machine that runs the tests needs no mongosh and no driver. BSON is read as
far as administrative replies need it (https://bsonspec.org), the wire protocol is one OP_MSG each way.
"""

import json
import socket
import struct
import sys

OP_MSG = 2013
PATIENCE_SECONDS = 60


def encode(document):
    """A dict as BSON. Integers become int32 if they fit, else int64."""
    body = b"".join(encode_element(name, value) for name, value in document.items())
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def encode_element(name, value):
    key = name.encode() + b"\0"
    if value is None:
        return b"\x0a" + key
    if isinstance(value, bool):
        return b"\x08" + key + (b"\1" if value else b"\0")
    if isinstance(value, int):
        fits = -(2**31) <= value < 2**31
        return (b"\x10" if fits else b"\x12") + key + struct.pack("<i" if fits else "<q", value)
    if isinstance(value, float):
        return b"\x01" + key + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode() + b"\0"
        return b"\x02" + key + struct.pack("<i", len(text)) + text
    if isinstance(value, dict) and "$timestamp" in value:
        return b"\x11" + key + struct.pack("<II", value["$timestamp"]["i"], value["$timestamp"]["t"])
    if isinstance(value, dict):
        return b"\x03" + key + encode(value)
    if isinstance(value, list):
        return b"\x04" + key + encode({str(index): item for index, item in enumerate(value)})
    raise TypeError(f"no BSON for {name}: {value!r}")


def decode(data, start=0):
    """The document at `start` as a dict; values without a JSON shape become text or numbers."""
    (length,) = struct.unpack_from("<i", data, start)
    position, end = start + 4, start + length - 1
    document = {}
    while position < end:
        kind = data[position]
        name_end = data.index(b"\0", position + 1)
        name = data[position + 1 : name_end].decode()
        document[name], position = decode_value(kind, data, name_end + 1)
    return document


def decode_value(kind, data, at):
    if kind in FIXED:
        pattern = FIXED[kind]
        return struct.unpack_from(pattern, data, at)[0], at + struct.calcsize(pattern)
    if kind in (0x06, 0x0A):
        return None, at
    if kind == 0x11:
        count, seconds = struct.unpack_from("<II", data, at)
        return {"$timestamp": {"t": seconds, "i": count}}, at + 8
    if kind == 0x07:
        return data[at : at + 12].hex(), at + 12
    (length,) = struct.unpack_from("<i", data, at)
    if kind == 0x02:
        return data[at + 4 : at + 3 + length].decode(), at + 4 + length
    if kind == 0x03:
        return decode(data, at), at + length
    if kind == 0x04:
        return list(decode(data, at).values()), at + length
    if kind == 0x05:
        return data[at + 5 : at + 5 + length].hex(), at + 5 + length
    raise ValueError(f"BSON type {kind:#x} in a reply is not known here")


# double, boolean, date, int32, int64
FIXED = {0x01: "<d", 0x08: "<?", 0x09: "<q", 0x10: "<i", 0x12: "<q"}


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the server closed the connection")
        data += part
    return data


def run_command(host, port, command):
    message = b"\0\0\0\0\0" + encode({**command, "$db": command.get("$db", "admin")})
    header = struct.pack("<iiii", 16 + len(message), 1, 0, OP_MSG)
    with socket.create_connection((host, port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(header + message)
        (length, _, _, _) = struct.unpack("<iiii", read_exactly(connection, 16))
        # Four bytes of flags and one for the kind of the section come before the document.
        return decode(read_exactly(connection, length - 16), 5)


def field_of(reply, path):
    for name in path.split("."):
        reply = reply.get(name) if isinstance(reply, dict) else None
    return reply


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    host, _, port = arguments[0].rpartition(":")
    if not host or arguments[0].endswith("]"):
        host, port = arguments[0], "27017"
    try:
        reply = run_command(host.strip("[]"), int(port), json.loads(arguments[1]))
    except OSError as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 3
    if len(arguments) == 3:
        value = field_of(reply, arguments[2])
        if value is not None:
            print(value if isinstance(value, str) else json.dumps(value))
    else:
        print(json.dumps(reply))
    if reply.get("ok") == 1 and "writeConcernError" not in reply:
        return 0
    print(f"{arguments[0]}: {reply.get('errmsg') or reply.get('writeConcernError')}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
