#!/usr/bin/env bash
# Lets Pagar.me's own client (npm @pagarme/pagarme-nodejs-sdk) judge the Pagar.me that the tests use. No arguments.
# Exit codes: 0 the client found nothing, 1 it did, or something is missing (npm_client.sh says what it needs).
set -euo pipefail

# shellcheck source=scripts/lib/judges/npm_client.sh
source "$(dirname "${BASH_SOURCE[0]}")/npm_client.sh"
judge_by_npm_client pagarme @pagarme/pagarme-nodejs-sdk 7.0.2
