# shellcheck shell=bash
# To be sourced: `stage NAME COMMAND…` runs a stage and tells its time; `stage_summary` lists all of them.

stage_times=()

milliseconds_now() {
    local microseconds=${EPOCHREALTIME/[.,]/}
    echo "$((microseconds / 1000))"
}

stage() {
    local name=$1 began took code=0
    shift
    printf '\n== %s\n' "$name" >&2
    began=$(milliseconds_now)
    "$@" || code=$?
    took=$(($(milliseconds_now) - began))
    local line
    line=$(printf '%4d.%d s  %s' "$((took / 1000))" "$((took % 1000 / 100))" "$name")
    ((code == 0)) || line+="  FAILED (exit code $code)"
    stage_times+=("$line")
    printf '== %s\n' "$line" >&2
    return "$code"
}

stage_summary() {
    ((${#stage_times[@]} == 0)) || printf '%s\n' '' "${stage_times[@]}" >&2
}
