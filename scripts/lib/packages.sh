# shellcheck shell=bash
# To be sourced: installing Debian packages where that is allowed.

# Whether apt-get may be run as root here.
may_install() { command -v apt-get >/dev/null && { ((EUID == 0)) || sudo -n true 2>/dev/null; }; }

as_root() { if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi; }

# Learns what packages there are. Fails if it may not, or can't.
update_package_lists() { may_install && as_root apt-get -qq -o DPkg::Lock::Timeout=300 update >&2; }

# Installs packages with apt-get, as root or by sudo. Fails if it may not, or can't.
install_packages() {
    may_install || return 1
    printf '%s: installing %s\n' "scripts/${0##*/}" "$*" >&2
    update_package_lists || true
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends "$@" >&2
}
