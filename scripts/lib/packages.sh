# shellcheck shell=bash
# To be sourced: installing Debian packages where that is allowed.

# Installs packages with apt-get, as root or by sudo. Fails if it may not, or can't.
install_packages() {
    local become=()
    command -v apt-get >/dev/null || return 1
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null || return 1
        become=(sudo -n)
    fi
    printf '%s: installing %s\n' "scripts/${0##*/}" "$*" >&2
    "${become[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update >&2 || true
    "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends "$@" >&2
}
