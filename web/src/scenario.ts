// SPDX-License-Identifier: Apache-2.0
// Made by scripts/types from `gradway schema`: change the tables of fields in sim/scenario instead.

export interface ScenarioJob {
  gpus?: number;
  batch_per_gpu?: number;
  precision?: 'fp32' | 'tf32' | 'bf16' | 'fp16' | 'fp8' | 'nvfp4';
  state_dtype?: 'fp32' | 'bf16' | 'fp16';
  accumulate?: number;
  global_batch?: number;
  attention?: 'auto' | 'cudnn' | 'flash' | 'flash1' | 'efficient' | 'math' | 'composed';
  memory_format?: 'contiguous' | 'channels_last';
  compile?: boolean;
  fused_loss?: boolean;
  composed_norms?: boolean;
  implementation?: 'auto' | 'fused' | 'huggingface';
  fusions?: 'all' | 'activation' | 'rope' | 'none';
  recompute?: 'none' | 'selective' | 'selective_op' | 'full';
  recompute_modules?: string;
  framework?: 'pytorch' | 'megatron' | 'deepspeed';
  zero_grad?: 'after_step' | 'before_backward';
  eval_batch?: number;
  eval_sequence?: number;
  deterministic?: boolean;
  expandable_segments?: boolean;
  float_logits?: boolean;
  launch_blocking?: boolean;
  cuda_graphs?: 'none' | 'layers' | 'step' | 'reduce_overhead';
  experts?: 'grouped' | 'loop';
  clip_grad_norm?: boolean;
  optimizer_in_backward?: boolean;
  host_reads?: number;
  host_reads_after?: 'forward' | 'backward' | 'optimizer';
  host_read_size?: string;
  reduced_metrics?: number;
  sync_batch_norm?: boolean;
  fp8_recipe?: 'tensorwise' | 'rowwise' | 'delayed' | 'blockwise' | 'mxfp8';
  fp8_attention?: boolean;
  slow_gpu?: number;
  sequence?: number;
  segment?: number;
  document_length?: number;
  recompute_every?: number;
  recompute_offload?: boolean;
  offload_activations?: string;
  loss_chunk?: number;
  mlp_tiles?: number;
  finetune?: 'full' | 'lora' | 'qlora';
  lora_rank?: number;
  lora_targets?: 'query_value' | 'attention' | 'all_linear';
  lora_dropout?: boolean;
  double_quant?: boolean;
  nf4_keeps_inputs?: boolean;
}

export interface ScenarioStrategyClientsClasses {
  name?: string;
  count?: number;
  down?: string;
  up?: string;
  rtt?: string;
  available?: string;
  step?: string;
  rate?: string;
  platform?: string;
  slowdown?: number;
  spread?: string;
  price?: string;
  egress?: string;
  data?: string;
}

export interface ScenarioStrategyClients {
  target?: number;
  asked?: number;
  drop_out?: string;
  deadline?: string;
  least?: number;
  retry?: string;
  egress?: string;
  classes?: ScenarioStrategyClientsClasses[];
}

export interface ScenarioStrategyWan {
  rate?: string;
  rtt?: string;
  loss?: string;
  congestion?: 'reno' | 'cubic' | 'bbr' | 'bbr2';
  streams?: number;
  egress?: string;
  window?: string;
}

export interface ScenarioStrategy {
  kind?: 'ddp' | 'none' | 'collective' | 'fsdp' | 'fsdp1' | 'zero' | 'distributed_optimizer' | 'local_sgd';
  bucket_cap?: string;
  static_graph?: boolean;
  gradient_as_bucket_view?: boolean;
  comm_hook?: 'none' | 'fp16' | 'bf16' | 'powersgd';
  powersgd_rank?: number;
  zero_redundancy?: boolean;
  parameters_as_bucket_view?: boolean;
  broadcast_buffers?: boolean;
  find_unused_parameters?: boolean;
  unused_parameters?: number;
  operation?: 'all_reduce' | 'all_gather' | 'reduce_scatter' | 'broadcast' | 'send_recv' | 'all_to_all';
  size?: string;
  timed?: 'back_to_back' | 'one_by_one';
  wrap?: string;
  reshard_after_forward?: boolean | number;
  megatron_fsdp?: boolean;
  forward_prefetch?: number | boolean;
  backward_prefetch?: number | 'pre' | 'post' | 'none';
  cpu_offload?: boolean;
  fp8_all_gather?: boolean;
  param_dtype?: 'fp32' | 'bf16' | 'fp16';
  reduce_dtype?: 'fp32' | 'bf16' | 'fp16';
  no_sync?: boolean;
  state_dict?: 'sharded' | 'full_on_cpu' | 'full_on_gpu';
  init_on_gpu?: boolean;
  sharding_strategy?: 'full_shard' | 'shard_grad_op';
  limit_all_gathers?: boolean;
  stage?: number;
  reduce_bucket_size?: number | string;
  overlap_comm?: boolean;
  reduce_scatter?: boolean;
  offload_optimizer?: boolean;
  offload_param?: boolean;
  prefetch_bucket_size?: number | string;
  max_live_parameters?: number | string;
  max_reuse_distance?: number | string;
  param_persistence_threshold?: number | string;
  communication_dtype?: 'fp32' | 'bf16' | 'fp16';
  grad_accum_dtype?: 'fp32' | 'bf16' | 'fp16';
  zero_hpz_partition_size?: number;
  zero_quantized_weights?: boolean;
  zero_quantized_gradients?: boolean;
  shard_optimizer?: boolean;
  instances?: number;
  overlap_grad_reduce?: boolean;
  overlap_param_gather?: boolean;
  bucket_size?: number | string;
  grad_reduce_dtype?: 'fp32' | 'bf16' | 'fp16';
  fp8_param_gather?: boolean;
  tensor_owners?: number;
  gradient_accumulation_fusion?: boolean;
  inner?: 'ddp' | 'none' | 'fsdp' | 'fsdp1' | 'zero' | 'distributed_optimizer';
  workers?: number;
  inner_steps?: number;
  exchanged?: 'fp32' | 'bf16' | 'fp16' | 'int8' | 'int4';
  top_k?: string;
  clients?: ScenarioStrategyClients;
  outer_optimizer?: 'average' | 'sgd' | 'nesterov';
  fragments?: number;
  overlap_steps?: number;
  wan?: ScenarioStrategyWan;
  data?: string;
}

export interface ScenarioParallel {
  tensor?: number;
  sequence?: boolean;
  overlap?: 'none' | 'async' | 'userbuffers' | 'async_tp';
  context?: number;
  context_method?: 'ring' | 'all_gather' | 'all_to_all';
  expert?: number;
  expert_tensor?: number;
  expert_imbalance?: number;
  expert_skew?: number;
  expert_rows?: number[] | number[][];
  expert_dispatch?: 'all_to_all' | 'deepep';
  fp8_dispatch?: boolean;
  expert_capacity_factor?: number;
  pipeline?: number;
  virtual?: number;
  stage_layout?: string;
  schedule?: 'gpipe' | '1f1b' | 'interleaved' | 'looped_bfs' | 'zb_h1' | 'zb_v' | 'dual_pipe_v';
  messages?: 'planned' | 'as_needed';
  tables?: 'table_wise' | 'row_wise';
  replicate?: number;
  order?: string;
}

export interface ScenarioInputDatasetCpu {
  decode?: string;
  transform?: string;
  collate?: string;
  error?: number;
}

export interface ScenarioInputDataset {
  source?: string;
  samples?: number;
  spread?: number;
  duplicates?: number;
  format?: 'files' | 'shards' | 'tokens' | 'pages' | 'parquet' | 'csv' | 'mapped';
  cpu?: ScenarioInputDatasetCpu;
  content?: 'images' | 'text' | 'volumes';
  gpu_decode?: string;
  pixels?: number;
  delivered?: string;
  sample_size?: string;
  compressible?: boolean;
  request?: string;
  row_group?: number;
  columns?: Record<string, unknown>[];
}

export interface ScenarioInputStorageBurst {
  credit?: string;
  sustained?: string;
}

export interface ScenarioInputStoragePrice {
  as_of?: string;
  usd_per_gb_month?: number;
  usd_per_million_requests?: number;
  usd_per_gb_out?: number;
  usd_per_million_writes?: number;
  usd_per_gb_in?: number;
}

export interface ScenarioInputStorage {
  source?: string;
  kind?: 'object_store' | 'parallel_file_system' | 'block_volume' | 'local_drive' | 'nfs' | 'memory';
  read?: string;
  first_byte?: string;
  first_byte_spread?: number;
  error?: number;
  write?: string;
  per_node?: string;
  per_connection?: string;
  requests_per_second?: number;
  burst?: ScenarioInputStorageBurst;
  price?: ScenarioInputStoragePrice;
}

export interface ScenarioInputPredicate {
  selectivity?: number;
  rows?: 'random' | 'clustered';
  false_positives?: number;
}

export interface ScenarioInput {
  pin_memory?: boolean;
  loader?: 'pytorch' | 'dali' | 'tf_data';
  loader_workers?: number;
  prefetch?: 'none' | 'ahead' | 'step' | 'forward';
  background_copy?: string;
  background_start?: 'ahead' | 'step' | 'forward';
  prefetch_factor?: number;
  persistent_workers?: boolean;
  worker_start?: string;
  sample_sizes?: 'mean' | 'drawn';
  batch_overhead?: string;
  batch_overhead_spread?: number;
  epoch_steps?: number;
  dataset?: string | ScenarioInputDataset;
  columns?: string[];
  storage?: string | ScenarioInputStorage;
  storage_network?: 'own' | 'shared';
  storage_weight?: number;
  staged_from?: string;
  stage_in?: 'before' | 'during';
  copy_streams?: number;
  codec?: 'lz4' | 'snappy' | 'zstd' | 'zlib';
  codec_in?: 'everywhere' | 'store_and_network' | 'store' | 'network' | 'cache';
  dedup?: 'none' | 'store' | 'cache' | 'network';
  decode?: 'cpu' | 'gpu';
  hw_decoder_load?: number;
  predicate?: ScenarioInputPredicate;
  csv_parser?: 'pandas' | 'pyarrow';
  access?: 'random' | 'sequential';
  read_ahead?: string;
  epoch?: 'later' | 'first';
  cache?: 'page_cache' | 'local_nvme';
  cache_size?: string;
  cache_policy?: 'keeps' | 'lru' | 'random';
  cache_prefetch?: boolean;
}

export interface ScenarioAnchor {
  gpu?: string;
  precision?: 'fp32' | 'tf32' | 'bf16' | 'fp16' | 'fp8' | 'nvfp4';
  batch?: number;
  optimizer?: 'sgd' | 'adamw' | 'adamw_fused' | 'sgd_momentum' | 'adamw_8bit' | 'lion' | 'lamb' | 'muon' | 'paged_adamw_8bit' | 'adafactor' | 'adamw_loop';
  step_time?: string;
  rate?: string;
  source?: string;
}

export interface ScenarioNetwork {
  round_trip?: string;
  loss?: string;
  window?: string;
  congestion?: 'reno' | 'cubic' | 'bbr' | 'bbr2';
  retransmission?: 'go_back_n' | 'selective';
  routing?: 'ecmp' | 'adaptive' | 'spray';
  paths?: number;
}

export interface ScenarioTraffic {
  from?: string;
  to?: string;
  rate?: string;
  load?: number;
  weight?: number;
  start?: string;
  end?: string;
  period?: string;
}

export interface ScenarioCampaignCheckpoint {
  interval?: string;
  mode?: 'sync' | 'async';
  sharded?: boolean;
  size?: string;
  storage?: string;
  keep?: number | 'all';
  weight?: number;
  write?: string;
  read?: string;
  per_rank?: string;
  overhead?: string;
  staging?: 'pageable' | 'pinned';
  device_copy?: string;
  slowdown?: number;
}

export interface ScenarioCampaignRestart {
  detection?: string;
  requeue?: string;
  communicators?: string;
  loader?: string;
}

export interface ScenarioCampaignFailures {
  model?: 'llama3' | 'rsc-1' | 'rsc-2' | 'opt-175b' | 'delta-a100' | 'delta-h100';
  node_mttf?: string;
  job_mttf?: string;
  again?: string;
  again_within?: string;
}

export interface ScenarioCampaignSpot {
  model?: 'advisor-10-20' | 'advisor-5-10' | 'aws-v100-2023' | 'aws-v100-2023-groups' | 'aws-v100-2022' | 'gcp-c3-2023';
  node_up?: string;
  node_down?: string;
  group?: number;
  notice?: string;
  share?: string;
}

export interface ScenarioCampaignStragglers {
  node_every?: string;
  slowdown?: number;
  lasts?: string;
  jitter?: string;
}

export interface ScenarioCampaignEvaluation {
  every?: number;
  time?: string;
}

export interface ScenarioCampaignPrices {
  on_demand?: string;
  spot?: string;
  reserved?: string;
  reserved_1y?: string;
  reserved_3y?: string;
}

export interface ScenarioCampaignCarbon {
  grid?: string;
  node_power?: string;
  pue?: number;
}

export interface ScenarioCampaignPhases {
  until?: number | string;
  by?: number;
  from?: number;
  to?: number;
  set?: Record<string, unknown>;
}

export interface ScenarioCampaignAdapt {
  exposed?: string;
  largest?: number;
}

export interface ScenarioCampaignStorage {
  tiers?: string[];
  load?: string;
  delay?: string;
  cool_down?: string;
}

export interface ScenarioCampaignConvergence {
  critical_batch?: number | string;
  at_batch?: number | string;
  more_steps?: number;
}

export interface ScenarioCampaign {
  tokens?: number | string;
  samples?: number | string;
  rounds?: number;
  epochs?: number;
  samples_per_epoch?: number | string;
  checkpoint?: ScenarioCampaignCheckpoint;
  restart?: ScenarioCampaignRestart;
  failures?: ScenarioCampaignFailures;
  spot?: ScenarioCampaignSpot;
  stragglers?: ScenarioCampaignStragglers;
  evaluation?: ScenarioCampaignEvaluation;
  spares?: number;
  repair?: string;
  elastic_from?: number;
  terms?: 'on_demand' | 'spot' | 'reserved' | 'reserved_1y' | 'reserved_3y';
  prices?: ScenarioCampaignPrices;
  carbon?: ScenarioCampaignCarbon;
  phases?: ScenarioCampaignPhases[];
  adapt?: ScenarioCampaignAdapt;
  storage?: ScenarioCampaignStorage;
  convergence?: ScenarioCampaignConvergence;
  seed?: number;
}

export interface ScenarioFaster {
  gpu?: number;
  cpu?: number;
  host_memory?: number;
  pcie?: number;
  nvlink?: number;
  inter_socket?: number;
  network?: number;
}

export interface ScenarioNccl {
  NCCL_P2P_DISABLE?: string | number;
  NCCL_SHM_DISABLE?: string | number;
  NCCL_NVB_DISABLE?: string | number;
  NCCL_PXN_DISABLE?: string | number;
  NCCL_NET_DISABLE_INTRA?: string | number;
  NCCL_SHM_USE_CUDA_MEMCPY?: string | number;
  NCCL_CROSS_NIC?: number;
  NCCL_P2P_LEVEL?: 'LOC' | 'NVL' | 'PIX' | 'PXB' | 'PHB' | 'SYS';
  NCCL_NET_GDR_LEVEL?: 'LOC' | 'NVL' | 'PIX' | 'PXB' | 'PHB' | 'SYS';
  NCCL_ALGO?: 'Ring' | 'Tree' | 'CollnetDirect' | 'CollnetChain' | 'NVLS' | 'NVLSTree';
  NCCL_PROTO?: 'LL' | 'LL128' | 'Simple';
  NCCL_MIN_NCHANNELS?: number;
  NCCL_MAX_NCHANNELS?: number;
  NCCL_BUFFSIZE?: number;
  NCCL_NTHREADS?: string | number;
  NCCL_NVLS_ENABLE?: number;
  NCCL_COLLNET_ENABLE?: string | number;
  NCCL_NET_GDR_READ?: string | number;
  NCCL_NET_GDR_C2C?: string | number;
  NCCL_IB_QPS_PER_CONNECTION?: number;
  NCCL_SOCKET_NTHREADS?: number;
  NCCL_NSOCKS_PERTHREAD?: number;
}

export interface Scenario {
  schema?: 1;
  source?: string;
  based_on?: string;
  model?: string | Record<string, unknown>;
  platform?: string;
  job?: ScenarioJob;
  strategy?: ScenarioStrategy;
  parallel?: ScenarioParallel;
  optimizer?: 'sgd' | 'adamw' | 'adamw_fused' | 'sgd_momentum' | 'adamw_8bit' | 'lion' | 'lamb' | 'muon' | 'paged_adamw_8bit' | 'adafactor' | 'adamw_loop';
  input?: ScenarioInput;
  anchor?: ScenarioAnchor;
  steps?: number;
  network?: ScenarioNetwork;
  traffic?: ScenarioTraffic[];
  campaign?: ScenarioCampaign;
  faster?: ScenarioFaster;
  nccl?: ScenarioNccl;
}
