#!/usr/bin/env bash
# Compares measured.yaml, which run.sh writes, with the prediction. Written by 'gradway export experiment'.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
exec "${GRADWAY:-gradway}" validate measured.yaml "$@"
