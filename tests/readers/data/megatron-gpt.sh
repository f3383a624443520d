#!/bin/bash
# A script as Megatron-LM's examples are laid out; the numbers are the tests' own.
export CUDA_DEVICE_MAX_CONNECTIONS=1

GPUS_PER_NODE=8
NUM_NODES=${SLURM_NNODES:-"4"}
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
DATA_PATH=$1

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --master_addr localhost
)

MODEL_ARGS="
    --num-layers 24 \
    --hidden-size 2304 \
    --num-attention-heads 24 \
    --seq-length 2048 \
    --max-position-embeddings 2048
"

TRAINING_ARGS=(
    --micro-batch-size 2
    --global-batch-size=128   # samples of a step
    --rampup-batch-size 16 16 5859375
    --lr 6.0e-5
    --clip-grad 1.0
    --bf16
    "--fp8-format hybrid"
    --recompute-granularity selective
)

PARALLEL_ARGS=(
    --tensor-model-parallel-size 4
    --pipeline-model-parallel-size 2
    --num-layers-per-virtual-pipeline-stage 6
    --sequence-paralel
    --use-distributed-optimizer
    --overlap-grad-reduce
)

torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    $MODEL_ARGS \
    ${TRAINING_ARGS[@]} ${PARALLEL_ARGS[@]} \
    --data-path $DATA_PATH --split '949,50,1' \
    --tokenizer-type GPT2BPETokenizer --micro-batch-size 1
