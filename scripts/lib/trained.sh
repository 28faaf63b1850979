# Builds with the profile `dist`, which is optimised for what ran often when `scripts/train` ran it. To be sourced, with
# $root and $target set.

trained=$root/packaging/trained.profdata.xz
# The compiler, its target, and the crates: names of functions depend on each of them, and counts belong to names.
trained_with=$root/packaging/trained.with

trained_triple() { rustc -vV | sed -n 's/^host: //p'; }

describe_training() {
    rustc --version
    trained_triple
    (cd "$root" && sha256sum Cargo.lock)
}

# Where `build_trained` puts a program.
trained_program() { printf '%s/%s/dist/%s\n' "$target" "$(trained_triple)" "$1"; }

# cargo build --profile dist, with these arguments. With --target, compilers' plug-ins and build scripts are built without
# the compiler's flags.
build_dist() {
    CARGO_TARGET_DIR=$target "${CARGO:-cargo}" build --locked --profile dist --target "$(trained_triple)" "$@"
}

# The same, with one more flag for the compiler.
build_with_flag() {
    local flag=$1 flags=${CARGO_ENCODED_RUSTFLAGS-${RUSTFLAGS:-}}
    shift
    # Cargo reads either variable. In the first one, blanks do not separate.
    [[ -n ${CARGO_ENCODED_RUSTFLAGS+set} ]] || flags=${flags// /$'\x1f'}
    CARGO_ENCODED_RUSTFLAGS=${flags:+$flags$'\x1f'}$flag build_dist "$@"
}

# True if the counts are of this compiler and these crates; otherwise says what is different.
training_fits() {
    local difference
    difference=$(diff "$trained_with" <(describe_training) | sed -n 's/^< //p')
    [[ -n $difference ]] || return 0
    printf 'trained with something else, so up to a fifth slower (scripts/train trains anew): %s\n' "$difference" >&2
    return 1
}

# Builds the program, with arguments of cargo build.
build_trained() {
    local counts
    # Another compiler or target can't read them, or finds no name in them.
    if ! training_fits && ! head -n 2 "$trained_with" | cmp -s - <(describe_training | head -n 2); then
        build_dist "$@"
        return
    fi
    # The name changes with the content, as Cargo builds again for another flag, and not for another file.
    counts=$target/trained-$(sha256sum <"$trained" | cut -c 1-16).profdata
    mkdir -p "$target"
    [[ -e $counts ]] || { xz --decompress --stdout "$trained" >"$counts.$$" && mv "$counts.$$" "$counts"; } || return 1
    build_with_flag "-Cprofile-use=$counts" "$@"
}
