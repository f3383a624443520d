# SPDX-License-Identifier: Apache-2.0
"""The keys of a scenario, for editors and type checkers; `gradway help` has what they mean.

Made by scripts/types from `gradway schema`: change the tables of fields in sim/scenario instead.
"""
from __future__ import annotations

from typing import Literal, TypedDict

ScenarioJob = TypedDict("ScenarioJob", {
    "gpus": int,
    "batch_per_gpu": int,
    "precision": Literal["fp32", "tf32", "bf16", "fp16", "fp8", "nvfp4"],
    "state_dtype": Literal["fp32", "bf16", "fp16"],
    "accumulate": int,
    "global_batch": int,
    "attention": Literal["auto", "cudnn", "flash", "flash1", "efficient", "math", "composed"],
    "memory_format": Literal["contiguous", "channels_last"],
    "compile": bool,
    "fused_loss": bool,
    "composed_norms": bool,
    "implementation": Literal["auto", "fused", "huggingface"],
    "fusions": Literal["all", "activation", "rope", "none"],
    "recompute": Literal["none", "selective", "selective_op", "full"],
    "recompute_modules": str,
    "framework": Literal["pytorch", "megatron", "deepspeed"],
    "zero_grad": Literal["after_step", "before_backward"],
    "eval_batch": int,
    "eval_sequence": int,
    "deterministic": bool,
    "expandable_segments": bool,
    "float_logits": bool,
    "launch_blocking": bool,
    "cuda_graphs": Literal["none", "layers", "step", "reduce_overhead"],
    "experts": Literal["grouped", "loop"],
    "clip_grad_norm": bool,
    "optimizer_in_backward": bool,
    "host_reads": int,
    "host_reads_after": Literal["forward", "backward", "optimizer"],
    "host_read_size": str,
    "reduced_metrics": int,
    "sync_batch_norm": bool,
    "fp8_recipe": Literal["tensorwise", "rowwise", "delayed", "blockwise", "mxfp8"],
    "fp8_attention": bool,
    "slow_gpu": float,
    "sequence": int,
    "segment": int,
    "document_length": int,
    "recompute_every": int,
    "recompute_offload": bool,
    "offload_activations": str,
    "loss_chunk": int,
    "mlp_tiles": int,
    "finetune": Literal["full", "lora", "qlora"],
    "lora_rank": int,
    "lora_targets": Literal["query_value", "attention", "all_linear"],
    "lora_dropout": bool,
    "double_quant": bool,
    "nf4_keeps_inputs": bool,
}, total=False)

ScenarioStrategyClientsClasses = TypedDict("ScenarioStrategyClientsClasses", {
    "name": str,
    "count": int,
    "down": str,
    "up": str,
    "rtt": str,
    "available": str,
    "step": str,
    "rate": str,
    "platform": str,
    "slowdown": float,
    "spread": str,
    "price": str,
    "egress": str,
    "data": str,
}, total=False)

ScenarioStrategyClients = TypedDict("ScenarioStrategyClients", {
    "target": int,
    "asked": int,
    "drop_out": str,
    "deadline": str,
    "least": int,
    "retry": str,
    "egress": str,
    "classes": list[ScenarioStrategyClientsClasses],
}, total=False)

ScenarioStrategyWan = TypedDict("ScenarioStrategyWan", {
    "rate": str,
    "rtt": str,
    "loss": str,
    "congestion": Literal["reno", "cubic", "bbr", "bbr2"],
    "streams": int,
    "egress": str,
    "window": str,
}, total=False)

ScenarioStrategy = TypedDict("ScenarioStrategy", {
    "kind": Literal["ddp", "none", "collective", "fsdp", "fsdp1", "zero", "distributed_optimizer", "local_sgd"],
    "bucket_cap": str,
    "static_graph": bool,
    "gradient_as_bucket_view": bool,
    "comm_hook": Literal["none", "fp16", "bf16", "powersgd"],
    "powersgd_rank": int,
    "zero_redundancy": bool,
    "parameters_as_bucket_view": bool,
    "broadcast_buffers": bool,
    "find_unused_parameters": bool,
    "unused_parameters": int,
    "operation": Literal["all_reduce", "all_gather", "reduce_scatter", "broadcast", "send_recv", "all_to_all"],
    "size": str,
    "timed": Literal["back_to_back", "one_by_one"],
    "wrap": str,
    "reshard_after_forward": 'bool | int',
    "megatron_fsdp": bool,
    "forward_prefetch": 'int | bool',
    "backward_prefetch": 'int | Literal["pre", "post", "none"]',
    "cpu_offload": bool,
    "fp8_all_gather": bool,
    "param_dtype": Literal["fp32", "bf16", "fp16"],
    "reduce_dtype": Literal["fp32", "bf16", "fp16"],
    "no_sync": bool,
    "state_dict": Literal["sharded", "full_on_cpu", "full_on_gpu"],
    "init_on_gpu": bool,
    "sharding_strategy": Literal["full_shard", "shard_grad_op"],
    "limit_all_gathers": bool,
    "stage": int,
    "reduce_bucket_size": 'float | str',
    "overlap_comm": bool,
    "reduce_scatter": bool,
    "offload_optimizer": bool,
    "offload_param": bool,
    "prefetch_bucket_size": 'float | str',
    "max_live_parameters": 'float | str',
    "max_reuse_distance": 'float | str',
    "param_persistence_threshold": 'float | str',
    "communication_dtype": Literal["fp32", "bf16", "fp16"],
    "grad_accum_dtype": Literal["fp32", "bf16", "fp16"],
    "zero_hpz_partition_size": int,
    "zero_quantized_weights": bool,
    "zero_quantized_gradients": bool,
    "shard_optimizer": bool,
    "instances": int,
    "overlap_grad_reduce": bool,
    "overlap_param_gather": bool,
    "bucket_size": 'float | str',
    "grad_reduce_dtype": Literal["fp32", "bf16", "fp16"],
    "fp8_param_gather": bool,
    "tensor_owners": int,
    "gradient_accumulation_fusion": bool,
    "inner": Literal["ddp", "none", "fsdp", "fsdp1", "zero", "distributed_optimizer"],
    "workers": int,
    "inner_steps": int,
    "exchanged": Literal["fp32", "bf16", "fp16", "int8", "int4"],
    "top_k": str,
    "clients": ScenarioStrategyClients,
    "outer_optimizer": Literal["average", "sgd", "nesterov"],
    "fragments": int,
    "overlap_steps": int,
    "wan": ScenarioStrategyWan,
    "data": str,
}, total=False)

ScenarioParallel = TypedDict("ScenarioParallel", {
    "tensor": int,
    "sequence": bool,
    "overlap": Literal["none", "async", "userbuffers", "async_tp"],
    "context": int,
    "context_method": Literal["ring", "all_gather", "all_to_all"],
    "expert": int,
    "expert_tensor": int,
    "expert_imbalance": float,
    "expert_skew": float,
    "expert_rows": 'list[float] | list[list[float]]',
    "expert_dispatch": Literal["all_to_all", "deepep"],
    "fp8_dispatch": bool,
    "expert_capacity_factor": float,
    "pipeline": int,
    "virtual": int,
    "stage_layout": str,
    "schedule": Literal["gpipe", "1f1b", "interleaved", "looped_bfs", "zb_h1", "zb_v", "dual_pipe_v"],
    "messages": Literal["planned", "as_needed"],
    "tables": Literal["table_wise", "row_wise"],
    "replicate": int,
    "order": str,
}, total=False)

ScenarioInputDatasetCpu = TypedDict("ScenarioInputDatasetCpu", {
    "decode": str,
    "transform": str,
    "collate": str,
    "error": float,
}, total=False)

ScenarioInputDataset = TypedDict("ScenarioInputDataset", {
    "source": str,
    "samples": float,
    "spread": float,
    "duplicates": float,
    "format": Literal["files", "shards", "tokens", "pages", "parquet", "csv", "mapped"],
    "cpu": ScenarioInputDatasetCpu,
    "content": Literal["images", "text", "volumes"],
    "gpu_decode": str,
    "pixels": float,
    "delivered": str,
    "sample_size": str,
    "compressible": bool,
    "request": str,
    "row_group": float,
    "columns": list[dict],
}, total=False)

ScenarioInputStorageBurst = TypedDict("ScenarioInputStorageBurst", {
    "credit": str,
    "sustained": str,
}, total=False)

ScenarioInputStoragePrice = TypedDict("ScenarioInputStoragePrice", {
    "as_of": str,
    "usd_per_gb_month": float,
    "usd_per_million_requests": float,
    "usd_per_gb_out": float,
    "usd_per_million_writes": float,
    "usd_per_gb_in": float,
}, total=False)

ScenarioInputStorage = TypedDict("ScenarioInputStorage", {
    "source": str,
    "kind": Literal["object_store", "parallel_file_system", "block_volume", "local_drive", "nfs", "memory"],
    "read": str,
    "first_byte": str,
    "first_byte_spread": float,
    "error": float,
    "write": str,
    "per_node": str,
    "per_connection": str,
    "requests_per_second": float,
    "burst": ScenarioInputStorageBurst,
    "price": ScenarioInputStoragePrice,
}, total=False)

ScenarioInputPredicate = TypedDict("ScenarioInputPredicate", {
    "selectivity": float,
    "rows": Literal["random", "clustered"],
    "false_positives": float,
}, total=False)

ScenarioInput = TypedDict("ScenarioInput", {
    "pin_memory": bool,
    "loader": Literal["pytorch", "dali", "tf_data"],
    "loader_workers": int,
    "prefetch": Literal["none", "ahead", "step", "forward"],
    "background_copy": str,
    "background_start": Literal["ahead", "step", "forward"],
    "prefetch_factor": int,
    "persistent_workers": bool,
    "worker_start": str,
    "sample_sizes": Literal["mean", "drawn"],
    "batch_overhead": str,
    "batch_overhead_spread": float,
    "epoch_steps": int,
    "dataset": 'str | ScenarioInputDataset',
    "columns": list[str],
    "storage": 'str | ScenarioInputStorage',
    "storage_network": Literal["own", "shared"],
    "storage_weight": float,
    "staged_from": str,
    "stage_in": Literal["before", "during"],
    "copy_streams": int,
    "codec": Literal["lz4", "snappy", "zstd", "zlib"],
    "codec_in": Literal["everywhere", "store_and_network", "store", "network", "cache"],
    "dedup": Literal["none", "store", "cache", "network"],
    "decode": Literal["cpu", "gpu"],
    "hw_decoder_load": float,
    "predicate": ScenarioInputPredicate,
    "csv_parser": Literal["pandas", "pyarrow"],
    "access": Literal["random", "sequential"],
    "read_ahead": str,
    "epoch": Literal["later", "first"],
    "cache": Literal["page_cache", "local_nvme"],
    "cache_size": str,
    "cache_policy": Literal["keeps", "lru", "random"],
    "cache_prefetch": bool,
}, total=False)

ScenarioAnchor = TypedDict("ScenarioAnchor", {
    "gpu": str,
    "precision": Literal["fp32", "tf32", "bf16", "fp16", "fp8", "nvfp4"],
    "batch": int,
    "optimizer": Literal["sgd", "adamw", "adamw_fused", "sgd_momentum", "adamw_8bit", "lion", "lamb", "muon", "paged_adamw_8bit", "adafactor", "adamw_loop"],
    "step_time": str,
    "rate": str,
    "source": str,
}, total=False)

ScenarioNetwork = TypedDict("ScenarioNetwork", {
    "round_trip": str,
    "loss": str,
    "window": str,
    "congestion": Literal["reno", "cubic", "bbr", "bbr2"],
    "retransmission": Literal["go_back_n", "selective"],
    "routing": Literal["ecmp", "adaptive", "spray"],
    "paths": int,
}, total=False)

ScenarioTraffic = TypedDict("ScenarioTraffic", {
    "from": str,
    "to": str,
    "rate": str,
    "load": float,
    "weight": float,
    "start": str,
    "end": str,
    "period": str,
}, total=False)

ScenarioCampaignCheckpoint = TypedDict("ScenarioCampaignCheckpoint", {
    "interval": str,
    "mode": Literal["sync", "async"],
    "sharded": bool,
    "size": str,
    "storage": str,
    "keep": 'int | Literal["all"]',
    "weight": float,
    "write": str,
    "read": str,
    "per_rank": str,
    "overhead": str,
    "staging": Literal["pageable", "pinned"],
    "device_copy": str,
    "slowdown": float,
}, total=False)

ScenarioCampaignRestart = TypedDict("ScenarioCampaignRestart", {
    "detection": str,
    "requeue": str,
    "communicators": str,
    "loader": str,
}, total=False)

ScenarioCampaignFailures = TypedDict("ScenarioCampaignFailures", {
    "model": Literal["llama3", "rsc-1", "rsc-2", "opt-175b", "delta-a100", "delta-h100"],
    "node_mttf": str,
    "job_mttf": str,
    "again": str,
    "again_within": str,
}, total=False)

ScenarioCampaignSpot = TypedDict("ScenarioCampaignSpot", {
    "model": Literal["advisor-10-20", "advisor-5-10", "aws-v100-2023", "aws-v100-2023-groups", "aws-v100-2022", "gcp-c3-2023"],
    "node_up": str,
    "node_down": str,
    "group": int,
    "notice": str,
    "share": str,
}, total=False)

ScenarioCampaignStragglers = TypedDict("ScenarioCampaignStragglers", {
    "node_every": str,
    "slowdown": float,
    "lasts": str,
    "jitter": str,
}, total=False)

ScenarioCampaignEvaluation = TypedDict("ScenarioCampaignEvaluation", {
    "every": int,
    "time": str,
}, total=False)

ScenarioCampaignPrices = TypedDict("ScenarioCampaignPrices", {
    "on_demand": str,
    "spot": str,
    "reserved": str,
    "reserved_1y": str,
    "reserved_3y": str,
}, total=False)

ScenarioCampaignCarbon = TypedDict("ScenarioCampaignCarbon", {
    "grid": str,
    "node_power": str,
    "pue": float,
}, total=False)

ScenarioCampaignPhases = TypedDict("ScenarioCampaignPhases", {
    "until": 'float | str',
    "by": int,
    "from": float,
    "to": float,
    "set": dict,
}, total=False)

ScenarioCampaignAdapt = TypedDict("ScenarioCampaignAdapt", {
    "exposed": str,
    "largest": int,
}, total=False)

ScenarioCampaignStorage = TypedDict("ScenarioCampaignStorage", {
    "tiers": list[str],
    "load": str,
    "delay": str,
    "cool_down": str,
}, total=False)

ScenarioCampaignConvergence = TypedDict("ScenarioCampaignConvergence", {
    "critical_batch": 'float | str',
    "at_batch": 'float | str',
    "more_steps": float,
}, total=False)

ScenarioCampaign = TypedDict("ScenarioCampaign", {
    "tokens": 'float | str',
    "samples": 'float | str',
    "rounds": int,
    "epochs": float,
    "samples_per_epoch": 'float | str',
    "checkpoint": ScenarioCampaignCheckpoint,
    "restart": ScenarioCampaignRestart,
    "failures": ScenarioCampaignFailures,
    "spot": ScenarioCampaignSpot,
    "stragglers": ScenarioCampaignStragglers,
    "evaluation": ScenarioCampaignEvaluation,
    "spares": int,
    "repair": str,
    "elastic_from": int,
    "terms": Literal["on_demand", "spot", "reserved", "reserved_1y", "reserved_3y"],
    "prices": ScenarioCampaignPrices,
    "carbon": ScenarioCampaignCarbon,
    "phases": list[ScenarioCampaignPhases],
    "adapt": ScenarioCampaignAdapt,
    "storage": ScenarioCampaignStorage,
    "convergence": ScenarioCampaignConvergence,
    "seed": int,
}, total=False)

ScenarioFaster = TypedDict("ScenarioFaster", {
    "gpu": float,
    "cpu": float,
    "host_memory": float,
    "pcie": float,
    "nvlink": float,
    "inter_socket": float,
    "network": float,
}, total=False)

ScenarioNccl = TypedDict("ScenarioNccl", {
    "NCCL_P2P_DISABLE": 'str | int',
    "NCCL_SHM_DISABLE": 'str | int',
    "NCCL_NVB_DISABLE": 'str | int',
    "NCCL_PXN_DISABLE": 'str | int',
    "NCCL_NET_DISABLE_INTRA": 'str | int',
    "NCCL_SHM_USE_CUDA_MEMCPY": 'str | int',
    "NCCL_CROSS_NIC": int,
    "NCCL_P2P_LEVEL": Literal["LOC", "NVL", "PIX", "PXB", "PHB", "SYS"],
    "NCCL_NET_GDR_LEVEL": Literal["LOC", "NVL", "PIX", "PXB", "PHB", "SYS"],
    "NCCL_ALGO": Literal["Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree"],
    "NCCL_PROTO": Literal["LL", "LL128", "Simple"],
    "NCCL_MIN_NCHANNELS": int,
    "NCCL_MAX_NCHANNELS": int,
    "NCCL_BUFFSIZE": int,
    "NCCL_NTHREADS": 'str | int',
    "NCCL_NVLS_ENABLE": int,
    "NCCL_COLLNET_ENABLE": 'str | int',
    "NCCL_NET_GDR_READ": 'str | int',
    "NCCL_NET_GDR_C2C": 'str | int',
    "NCCL_IB_QPS_PER_CONNECTION": int,
    "NCCL_SOCKET_NTHREADS": int,
    "NCCL_NSOCKS_PERTHREAD": int,
}, total=False)

Scenario = TypedDict("Scenario", {
    "schema": Literal[1],
    "source": str,
    "based_on": str,
    "model": 'str | dict',
    "platform": str,
    "job": ScenarioJob,
    "strategy": ScenarioStrategy,
    "parallel": ScenarioParallel,
    "optimizer": Literal["sgd", "adamw", "adamw_fused", "sgd_momentum", "adamw_8bit", "lion", "lamb", "muon", "paged_adamw_8bit", "adafactor", "adamw_loop"],
    "input": ScenarioInput,
    "anchor": ScenarioAnchor,
    "steps": int,
    "network": ScenarioNetwork,
    "traffic": list[ScenarioTraffic],
    "campaign": ScenarioCampaign,
    "faster": ScenarioFaster,
    "nccl": ScenarioNccl,
}, total=False)
