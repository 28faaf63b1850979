"""Checks documents against each other and the code. To be started by `scripts/check_docs`, which says what is checked."""

import os
import re
import subprocess
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$")
ELSEWHERE = ("http:", "https:", "mailto:")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(*patterns):
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
    return [name for name in names if name and os.path.exists(name)]


def prose(text):
    """The lines outside of blocks of code."""
    is_code = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield line


def anchor(heading):
    """The anchor that forges make of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    found = set()
    for line in prose(read(path)):
        heading = HEADING.match(line)
        if heading:
            name, count = anchor(heading[1]), 0
            while (name if not count else f"{name}-{count}") in found:
                count += 1
            found.add(name if not count else f"{name}-{count}")
    return found


def broken_links():
    known = {}
    for path in files("*.md"):
        # Links of the guides are those of the pages that the service makes of them.
        if path.startswith("docs/guides/"):
            continue
        text = re.sub(r"`[^`]*`", "", "\n".join(prose(read(path))))
        for link in LINK.findall(text):
            if link.startswith(ELSEWHERE) or link.startswith("/"):
                continue
            file, _, name = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(target):
                yield f"{path}: {link}: no such file"
            elif name and target.endswith(".md"):
                if target not in known:
                    known[target] = anchors(target)
                if name not in known[target]:
                    yield f"{path}: {link}: no such heading"


def first_cells(text):
    """The names in code in the first cell of each row of the tables."""
    rows = (line.split(" | ")[0] for line in text.split("\n") if line.startswith("| "))
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def differences(page, documented, known):
    yield from (f"{page} lacks {name}" for name in sorted(known - documented))
    yield from (f"{page} has {name}, which the code has not" for name in sorted(documented - known))


def known_options():
    source = read("config/src/option.rs")
    known = set(re.findall(r'\boption\(\s*"([a-z-]+)"', source))
    return known | {f"QUITA_{name.upper().replace('-', '_')}" for name in re.findall(r'\bsecret\(\s*"([a-z-]+)"', source)}


def options():
    page = "docs/reference/options.md"
    documented = first_cells(read(page).split("\n## The service\n")[1].split("\n## ")[0])
    return differences(page, documented, known_options())


def keys_of_tables():
    """Keys of tables that pages explain, and that the complete configuration lacks."""
    complete = read("config/src/complete.toml")
    acquirers = read("docs/reference/options.md").split("\n## Acquirers\n")[1].split("\n### ")[0]
    routes = read("docs/ROUTING.md").split("\n## ")
    for page, text in ("docs/reference/options.md", acquirers), ("docs/ROUTING.md", "\n".join(routes[:3])):
        for key in sorted(first_cells(text.replace("| Key of", ""))):
            if not re.search(rf"^(\[[a-z]+\.{key}\]|{key}(-file)? = )", complete, re.M):
                yield f"config/src/complete.toml lacks {key} of {page}"


def known_metrics():
    sources = [path for path in files("src/*.rs", "services/src/*.rs", "actors/src/*.rs", "acquirers/src/*.rs", "adapters/*.rs")
               if not path.startswith(("src/cli/", "src/console/")) and "/tests/" not in path]
    known = set()
    for path in sources:
        known |= set(re.findall(r'"(quita_[a-z_]+)"', read(path).split("#[cfg(test)]\nmod ")[0]))
    return known


def metrics():
    page = "docs/reference/metrics.md"
    documented = {name for name in first_cells(read(page)) if name.startswith("quita_")}
    return differences(page, documented, known_metrics())


def names():
    """What configurations and dashboards of users name."""
    return sorted(known_options() | known_metrics())


def gone():
    known = set(names())
    for path in files("tests/golden/names-*.txt"):
        yield from (f"{path}: {name} was released, and is gone" for name in read(path).split() if name not in known)


def main():
    if sys.argv[1:] == ["--names"]:
        print("\n".join(names()))
        return
    findings = [*broken_links(), *options(), *keys_of_tables(), *metrics(), *gone()]
    for finding in findings:
        print(f"scripts/check_docs: {finding}", file=sys.stderr)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
