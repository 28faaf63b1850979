#!/bin/bash
# Runs the unpacked image as its user, on a root that cannot be written, without a network but loopback. To be started by
# scripts/release_check in namespaces of its own (mounts, processes, network).
#
#     try_image.sh DIRECTORY LOG
set -euo pipefail

fail() { echo "FAILED: $*"; exit 1; }

image=$1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
ip link set lo up
mount --bind "$image" "$image"
mount -t tmpfs -o mode=700,uid=10001,gid=10001 tmpfs "$image/var/lib/quita"
mount -o remount,bind,ro "$image"
run=("$(type -P chroot)" --userspec=10001:10001 "$image" /usr/bin/quita)
key=$(head -c 48 /dev/urandom | base64 -w 0)

env -i "${run[@]}" --version || fail 'the program does not start'
! env -i "${run[0]}" --userspec=10001:10001 "$image" /bin/sh -c true 2>/dev/null || fail 'there is a shell'
env -i QUITA_CONFIG=/etc/quita/quita.toml QUITA_SECRET_KEY="$key" \
    "${run[@]}" serve >"$2" 2>&1 &
service=$!
for _ in {1..100}; do
    status=$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:9090/health/ready || true)
    [[ $status != 200 ]] || break
    sleep 0.2
done
[[ $status == 200 ]] || { cat "$2"; fail 'not ready'; }
[[ $(stat -c %u "/proc/$service") == 10001 ]] || fail 'it does not run as its user'
[[ $(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/docs) == 200 ]] || fail 'no answer at 8080'
kill -TERM "$service"
wait "$service" || fail "it ends with $? after SIGTERM"
echo 'ok: runs as user 10001 on a root that cannot be written, ready, and ends with 0 after SIGTERM'
