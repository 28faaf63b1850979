# shellcheck shell=bash
# To be sourced: `stage NAME COMMAND…` runs a stage and tells its time, and the processor seconds of all processes that
# ended in it; `stage_summary` lists all of them.
# What the command writes into the file `$STAGE_SKIPPED`, it did not do: the stage's line says so.
# `stage_beside NAME COMMAND…` starts one in the background, and `stage_join` waits for it and shows what it said.

stage_times=()
beside_name='' beside_pid='' beside_began='' beside_output=''

milliseconds_now() {
    local microseconds=${EPOCHREALTIME/[.,]/}
    echo "$((microseconds / 1000))"
}

# Sets `processor_seconds` to those of all processes of this shell that have ended.
count_processor_seconds() {
    local file
    file=$(mktemp)
    # In a subshell it would tell of the subshell alone.
    times >"$file"
    processor_seconds=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, of, "[ms]"); sum += of[1] * 60 + of[2] } }
        END { printf "%d", sum }' "$file")
    rm -f "$file"
}

# Tells how long a stage took, how it ended, and what it skipped. Its code is the stage's.
stage_ended() {
    local name=$1 took=$2 code=$3 skipped=${4:-} processor=${5:-} line
    line=$(printf '%4d.%d s  %s' "$((took / 1000))" "$((took % 1000 / 100))" "$name")
    [[ -z $processor ]] || line+="  ($processor processor seconds)"
    ((code == 0)) || line+="  FAILED (exit code $code)"
    [[ -z $skipped ]] || line+="  SKIPPED: $skipped"
    stage_times+=("$line")
    printf '== %s\n' "$line" >&2
    return "$code"
}

stage() {
    local name=$1 began code=0 notes skipped processor_seconds processor_began
    shift
    printf '\n== %s\n' "$name" >&2
    began=$(milliseconds_now)
    count_processor_seconds
    processor_began=$processor_seconds
    notes=$(mktemp)
    STAGE_SKIPPED=$notes "$@" || code=$?
    skipped=$(paste -sd ' ' "$notes")
    rm -f "$notes"
    count_processor_seconds
    stage_ended "$name" "$(($(milliseconds_now) - began))" "$code" "$skipped" "$((processor_seconds - processor_began))"
}

# For what mostly waits, one at a time. Whoever uses it ends it with `stage_beside_stop` in a trap.
stage_beside() {
    beside_name="$1, beside the others" beside_began=$(milliseconds_now) beside_output=$(mktemp)
    shift
    printf '\n== %s\n' "$beside_name: begins" >&2
    # A process group of its own: a signal reaches whatever it has started.
    set -m
    (
        code=0
        trap : TERM
        "$@" &
        wait "$!" || code=$?
        # A signal ends the waiting, and then the others: this one stays until they have ended.
        ((code <= 128)) || wait "$!" || code=$?
        # The time of its end, not that of the join, is what it took.
        milliseconds_now >"$beside_output.ended"
        exit "$code"
    ) >"$beside_output" 2>&1 </dev/null &
    beside_pid=$!
    set +m
}

stage_join() {
    local code=0
    wait "$beside_pid" || code=$?
    beside_pid=''
    printf '\n== %s\n' "$beside_name" >&2
    cat "$beside_output" >&2
    local ended
    ended=$(cat "$beside_output.ended" 2>/dev/null || milliseconds_now)
    rm -f "$beside_output" "$beside_output.ended"
    stage_ended "$beside_name" "$((ended - beside_began))" "$code"
}

# Ends what runs beside, with what it started, and waits for it.
stage_beside_stop() {
    [[ -n $beside_pid ]] || return 0
    kill -TERM -- "-$beside_pid" 2>/dev/null || true
    stage_join || true
}

stage_summary() {
    ((${#stage_times[@]} == 0)) || printf '%s\n' '' "${stage_times[@]}" >&2
}
