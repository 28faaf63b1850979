#!/usr/bin/env bash
# Lets a client of Cielo that is not ours (npm cielo) judge the Cielo that the tests use. No arguments.
# Exit codes: 0 the client found nothing, 1 it did, or something is missing (npm_client.sh says what it needs).
set -euo pipefail

# shellcheck source=scripts/lib/judges/npm_client.sh
source "$(dirname "${BASH_SOURCE[0]}")/npm_client.sh"
judge_by_npm_client cielo cielo 2.4.4 '{"hostsApart": true}'
