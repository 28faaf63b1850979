#!/bin/bash
# Tries the package in a Debian that was booted for it, as root: scripts/release_check puts this there, with the package
# as /try/old.deb and as /try/new.deb, which differs in its version alone.
set -euo pipefail

fail() { echo "FAILED: $*"; exit 1; }
ok() { echo "ok: $*"; }
is() { if [[ $2 == "$3" ]]; then ok "$1: $2"; else fail "$1 is $2, not $3"; fi; }
install_package() { apt-get -qq -y -o Dpkg::Use-Pty=0 install "$1" 2>&1; }
active() { systemctl is-active quita.service || true; }
enabled() { systemctl is-enabled quita.service 2>/dev/null || true; }
main_pid() { systemctl show --property MainPID --value quita.service; }
facts_of() { stat --format '%a %U:%G' "$1"; }

ready() {
    local try
    for try in {1..100}; do
        [[ $(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:9090/health/ready) != 200 ]] || return 0
        sleep 0.2
    done
    journalctl --no-pager -u quita.service | tail -n 30
    fail "not ready after $((try / 5)) s"
}

read_payment() { curl -s http://127.0.0.1:8080/pay/payments/"$1" -H "Authorization: Bearer $key"; }

expect_payment() {
    [[ $(read_payment "$payment") == *"$payment"* ]] || fail "the payment is gone: $1"
    ok "the payment is there: $1"
}

export DEBIAN_FRONTEND=noninteractive
said=$(install_package /try/old.deb)
printf '%s\n' "$said"
[[ $said == *'What to do next'* ]] || fail 'the installation does not say what to do next'
is 'after the installation it is' "$(active)" inactive
is 'at a boot it is' "$(enabled)" disabled
is 'data' "$(facts_of /var/lib/quita)" '700 quita:quita'
is 'configuration' "$(facts_of /etc/quita)" '750 root:quita'
is 'shell of the user' "$(getent passwd quita | cut -d: -f6,7)" /var/lib/quita:/usr/sbin/nologin
is 'conffiles' "$(dpkg-query --show --showformat '${Conffiles}' quita | awk '{ print $1 }' | xargs)" /etc/quita/quita.toml
[[ $(quita --version) == "quita $(dpkg-query --show --showformat '${Version}' quita) "* ]] || fail "$(quita --version)"
ok "$(quita --version)"
runuser -u quita -- quita doctor --config /etc/quita/quita.toml || fail 'quita doctor finds something'

verified=$(systemd-analyze verify --man=no quita.service 2>&1 | grep quita || true)
is 'what systemd-analyze verify says' "$verified" ''
systemctl start quita.service
ready
ok 'it runs'
exposure=$(systemd-analyze security --no-pager quita.service | sed -n 's/.*level for quita.service: \([0-9.]*\).*/\1/p')
awk -v level="$exposure" 'BEGIN { exit !(level != "" && level <= 2.0) }' || fail "exposure is $exposure, more than 2.0"
ok "systemd-analyze security: $exposure"
is 'its files' "$(facts_of /var/lib/quita/quita.db)" '600 quita:quita'
key=$(journalctl --no-pager -u quita.service | grep -o 'qk_test_[A-Za-z0-9_-]*' | head -n 1)
[[ -n $key ]] || fail 'the first start prints no key'
answer=$(curl -s -S http://127.0.0.1:8080/pay/payments -H "Authorization: Bearer $key" -H 'Content-Type: application/json' \
    -d '{"amount": 10000, "currency": "BRL", "paymentMethod": "pix", "paymentDetails": {"firstName": "Maria",
        "lastName": "Silva", "document": "52998224725", "documentType": "CPF", "email": "maria@example.com",
        "phoneNumber": "11987654321", "address": {"street": "Rua Augusta", "number": "100", "neighborhood": "Centro",
        "city": "São Paulo", "state": "SP", "zipCode": "01304000"}}}' 2>&1)
payment=$(sed -n 's/.*"transactionId": *"\([^"]*\)".*/\1/p' <<<"$answer")
[[ -n $payment ]] || fail "no payment can be made: $answer"
expect_payment 'made below the rules of the unit'
sleep 4
[[ $(read_payment "$payment") == *'"status":"paid"'* ]] || fail "the sandbox did not pay: $(read_payment "$payment")"
ok 'the sandbox paid it'

before=$(main_pid)
systemctl reload quita.service
sleep 1
is 'after a reload it is' "$(active) $(main_pid)" "active $before"
kill -9 "$before"
sleep 7
ready
[[ $(main_pid) != "$before" ]] || fail 'it was not started again after a crash'
ok 'it is started again after a crash'

before=$(main_pid)
echo '# a line of the administrator' >>/etc/quita/quita.toml
install_package /try/new.deb
ready
[[ $(main_pid) != "$before" ]] || fail 'an upgrade leaves the old program running'
ok 'an upgrade takes the new program'
grep -q administrator /etc/quita/quita.toml || fail 'an upgrade replaces the configuration'
expect_payment 'after the upgrade'

systemctl stop quita.service
is 'it stopped with' "$(systemctl show --property Result --value quita.service)" success
dpkg --install --force-confold /try/old.deb
is 'an upgrade of one that does not run leaves it' "$(active)" inactive

openssl rand -base64 48 >/tmp/key 2>/dev/null || head -c 48 /dev/urandom | base64 -w 0 >/tmp/key
install -m 600 -o quita -g quita /tmp/key /var/lib/quita/secret-key
mkdir -p /var/lib/quita/production
chown quita:quita /var/lib/quita/production
cat >/etc/quita/quita.toml <<'TOML'
environment = "production"
public-url = "https://pay.example.com"
behind-proxy = true
secret-key-file = "/var/lib/quita/secret-key"
store = "sqlite:/var/lib/quita/production/quita.db"
[[acquirer]]
name = "sandbox"
adapter = "sandbox"
TOML
systemctl enable --quiet --now quita.service
ready
ok 'it runs in production, with a secret key in a file'
is 'at a boot it is' "$(enabled)" enabled

apt-get -qq -y remove quita
is 'after its removal it is' "$(active)" inactive
[[ ! -e /etc/systemd/system/multi-user.target.wants/quita.service ]] || fail 'the boot still asks for it'
[[ -f /etc/quita/quita.toml && -f /var/lib/quita/quita.db ]] || fail 'a removal takes configuration or data'
ok 'a removal leaves configuration and data'
apt-get -qq -y purge quita
[[ ! -e /etc/quita ]] || fail 'a purge leaves /etc/quita'
[[ -f /var/lib/quita/quita.db && $(facts_of /var/lib/quita) == '700 quita:quita' ]] || fail 'a purge takes the data'
getent passwd quita >/dev/null || fail 'a purge takes the user'
ok 'a purge leaves data and user, and takes the configuration'

install_package /try/old.deb >/dev/null
systemctl start quita.service
ready
expect_payment 'in a new installation over the old data'
echo 'all is well'
