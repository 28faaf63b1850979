"""What a MongoDB server did: documents written, bytes of the oplog, entries that indexes got and lost."""

import json
import os
import subprocess
import sys

MONGO_COMMAND = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mongo_command.py")
# What a payment is written to. Others are written seldom.
COLLECTIONS = ("payments", "inbox")


def ask(host, command):
    """The reply, or nothing if there is no server or it refused."""
    asked = [sys.executable, "-I", MONGO_COMMAND, host, json.dumps(command)]
    ran = subprocess.run(asked, capture_output=True, text=True, check=False)
    return json.loads(ran.stdout) if ran.returncode == 0 else {}


class Work:
    """What the server does for one database from now on."""

    def __init__(self, url):
        address = url.removeprefix("mongodb://").partition("?")[0]
        hosts, _, self.database = address.partition("/")
        self.host = hosts.partition(",")[0]
        self.last = self.last_in_oplog()
        self.written, self.moves = self.documents_written(), self.index_moves()

    def read(self, count):
        """Of each of `count` payments; the moves also by index."""
        moves = {name: moved - self.moves.get(name, 0) for name, moved in self.index_moves().items()}
        oplog_bytes = self.oplog_bytes()
        return {
            "documents": (self.documents_written() - self.written) / count,
            "oplog_bytes": None if oplog_bytes is None else oplog_bytes / count,
            "index_moves": sum(moves.values()) / count,
            "moves_by_index": {name: moved / count for name, moved in moves.items() if moved},
        }

    def documents_written(self):
        counted = ask(self.host, {"serverStatus": 1})["metrics"]["document"]
        return sum(counted[how] for how in ("inserted", "updated", "deleted"))

    def index_moves(self):
        """An entry that goes from one place of an index to another is lost once and got once."""
        moves = {}
        for collection in COLLECTIONS:
            found = ask(self.host, {"collStats": collection, "$db": self.database})
            for index, details in found.get("indexDetails", {}).items():
                cursor = details["cursor"]
                moves[f"{collection}.{index}"] = cursor["insert calls"] + cursor["remove calls"]
        return moves

    def last_in_oplog(self):
        return self.end_of_oplog(-1)

    def end_of_oplog(self, direction):
        find = {"find": "oplog.rs", "sort": {"$natural": direction}, "limit": 1, "projection": {"ts": 1}, "$db": "local"}
        return ask(self.host, find)["cursor"]["firstBatch"][0]["ts"]

    def oplog_bytes(self):
        """Nothing if the server has deleted some of it already: its oplog keeps so much and no more."""
        of_database = {"ts": {"$gt": self.last}, "ns": {"$regex": f"^{self.database}[.]"}}
        total = {"$group": {"_id": None, "bytes": {"$sum": {"$bsonSize": "$$ROOT"}}}}
        pipeline = [{"$match": of_database}, total]
        found = ask(self.host, {"aggregate": "oplog.rs", "pipeline": pipeline, "cursor": {}, "$db": "local"})
        oldest, began = (at["$timestamp"] for at in (self.end_of_oplog(1), self.last))
        if (oldest["t"], oldest["i"]) > (began["t"], began["i"]):
            return None
        return found["cursor"]["firstBatch"][0]["bytes"]
