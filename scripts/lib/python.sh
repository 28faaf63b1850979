# shellcheck shell=bash
# To be sourced: `python`, the interpreter itself (behind any version manager's slow shim), or nothing.

# shellcheck disable=SC2034  # used by the script that sources this
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null || true)
