#!/usr/bin/env bash
# Runs train.py on 4 GPUs of 1 node. Written by 'gradway export experiment'.
#
#     bash run.sh [ARGUMENTS OF train.py]
#     bash run.sh --nsys    under Nsight Systems, for 'gradway import nsys'
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

launch=(torchrun --nnodes=1 --nproc-per-node=4 --standalone)
if [[ "${1:-}" == --nsys ]]; then
  shift
  nsys profile --trace=cuda,nvtx --capture-range=cudaProfilerApi --capture-range-end=stop \
    --force-overwrite=true --output=nsys "${launch[@]}" train.py --profile nsys "$@"
  exec nsys export --type sqlite --force-overwrite=true --output=nsys.sqlite nsys.nsys-rep
fi
exec "${launch[@]}" train.py "$@"
