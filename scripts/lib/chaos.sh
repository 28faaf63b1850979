# shellcheck shell=bash
# To be sourced, with $root, $lib and $python set: what scripts/chaos and scripts/upgrade share. `build_programs` copies
# quita-chaos and quita-chaos-node into `$programs`; `with_embedded` and `with_mongodb` run them with what `embedded`,
# `mongodb` and `given` hold.

command -v setpriv >/dev/null || { say "setpriv is missing (Debian: util-linux)"; exit 1; }
profile=${QUITA_CHAOS_PROFILE:-dev}
# A copy: whoever builds meanwhile does not change the programs under test.
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# With the features of the whole workspace, so that what the tests have built serves again.
build_programs() {
    local target
    cargo build --quiet --locked --profile "$profile" --workspace --bin quita-chaos --bin quita-chaos-node || return 1
    target=$(cargo metadata --format-version 1 --no-deps --locked |
        "$python" -I -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])') || return 1
    cp "$target/${profile/#dev/debug}"/quita-chaos{,-node} "$programs"
}

# Below a guard that ends, and tells, what is left behind; in the background, because only `wait` lets a trap interrupt.
guarded() {
    local code=0
    "$python" -I "$lib/leave_nothing.py" --patience 20 -- "$@" </dev/null &
    local guard=$!
    # shellcheck disable=SC2064  # the guard of now
    trap "kill -TERM $guard 2>/dev/null || :; wait $guard 2>/dev/null || :; rm -rf '$programs'" EXIT
    wait "$guard" || code=$?
    trap 'rm -rf "$programs"' EXIT
    return "$code"
}

with_embedded() { guarded "$programs/quita-chaos" --store embedded "${embedded[@]}" "${given[@]}"; }

with_mongodb() {
    guarded env -u MONGODB_URI "$root/scripts/mongod" run --nodes 3 --setParameter enableTestCommands=1 -- \
        "$programs/quita-chaos" --store mongodb "${mongodb[@]}" "${given[@]}"
}
