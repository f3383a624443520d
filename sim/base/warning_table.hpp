// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace gradway {

/// A fact that users should know before they rely on a prediction. Texts are whole sentences but where said.
struct WarningRow {
  std::string_view code;      ///< stable: `gradway help CODE` explains it
  std::string_view sentence;  ///< without a full stop; {names} stand for values; empty: it has several forms
  std::string_view meaning;   ///< one line, without a full stop
  std::string_view when;      ///< it arises
  std::string_view error;     ///< how far the prediction may be off
  std::string_view advice;    ///< what to do
};

/// One of the sentences of a warning that has several.
struct WarningForm {
  std::string_view code;  ///< of the warning, and a name of the form: "memory-exceeded/surely"
  std::string_view sentence;
};

namespace warning_table {

constexpr std::string_view exact = "The prediction is not affected.";
constexpr std::string_view unknown = "Unknown: it was not compared with a measurement.";

/// Every warning, sorted by code. Figures are those of the code that uses them, with sources there and in
/// docs/ACCURACY.md. Those of profile-moved-by-roofline are own profiles of an H200 against steps on one of
/// the others: vit_l_32, gpt_small, gpt_medium, resnet50 (bf16, fp32), mobilenet_v3_large and vit_b_16 on an
/// H100 (2026-11-21), vit_l_32 on an L40S (90.8 ms predicted, 112.2 measured) and an A100 (279.6 and 193.4;
/// both by the article of January 2026).
constexpr auto rows = std::to_array<WarningRow>({
    {"alternating-steps",
     "step times alternate between {shortest:.4g} and {longest:.4g} ms: the reported step is the mean of "
     "{steps} steps",
     "The reported step is the mean of steps of different length",
     "The job reaches no steady state of one step: it repeats after several steps, as with an input that "
     "every second step waits for.",
     "The mean is exact for long runs; a single step is as long as one of the two times.",
     "Compare means of several measured steps."},
    {"anchor-other-batch",
     "the anchor was measured at batch {anchor}, the job has {job}: efficiency may differ",
     "The anchor was measured at another batch than the job's",
     "A measured step (an anchor) scales compute, and its batch differs from job.batch_per_gpu.",
     "About 8 % at twice or half the batch, and more with the square root of the number of doublings; the "
     "prediction interval includes it.",
     "Measure the anchor at the job's batch."},
    {"assumed-pageable-rate",
     "the platform {platform} has no rate for copies from pageable memory: the rate of pinned memory is used",
     "The platform has no rate for copies from pageable memory",
     "input.pin_memory is false, and the platform's file has no pageable rate.",
     "Copies of inputs take longer than predicted, by an unknown amount.",
     "Measure the node with gradway-probe, or set input.pin_memory: true."},
    {"attention-not-named",
     "job.attention is not set: transformers of before 2024 writes attention out, with which the passes take "
     "{ratio:.2f} times as long",
     "Programs of another year run another implementation of attention",
     "The model runs as in Hugging Face's transformers, job.attention is auto, and fused attention, the "
     "default of "
     "today, differs from attention that is written out by more than 5 %.",
     "The ratio in the sentence; the prediction interval includes it.",
     "Set job.attention to composed for attn_implementation eager, else to flash, cudnn or efficient."},
    {"channels-last-faster",
     "images are in NCHW, but tensor cores need NHWC: job.memory_format channels_last would save "
     "{percent:.0f} % of the kernel time of both passes",
     "Convolutions would be faster with images in NHWC",
     "A model with convolutions runs on tensor cores with images in NCHW, PyTorch's default.", exact,
     "Set job.memory_format: channels_last, and in PyTorch model.to(memory_format=torch.channels_last)."},
    {"checkpoint-exceeds-mttf",
     "a checkpoint takes {checkpoint:.4g} s, but the mean time to a failure is {mttf:.4g} s: use faster "
     "storage, smaller or sharded checkpoints, or fewer nodes",
     "A checkpoint takes longer than the mean time to a failure",
     "The pause and the write of a checkpoint together exceed the mean time to a failure of the job.",
     "The campaign hardly advances; its figures depend on few successful checkpoints.",
     "Use faster storage, smaller or sharded checkpoints, or fewer nodes."},
    {"checkpoints-lost-with-node",
     "checkpoints on '{storage}' are inside the nodes: their loss with a failing node is not simulated",
     "The loss of checkpoints with a failing node is not simulated",
     "The checkpoints' storage is inside the nodes, and the campaign has failures.",
     "The predicted campaign is too short whenever a failed node takes its checkpoint with it.",
     "Use storage on a network, or copy checkpoints to another node."},
    {"compiled-capture",
     "the program calls torch.compile, but was captured as eager PyTorch: kernels are fused by rule, and "
     "memory is that of the eager step",
     "A compiled program was captured as eager PyTorch",
     "The captured program calls torch.compile, which 'gradway capture' records as eager PyTorch.",
     "The predicted step is too long, by an amount that depends on the program.",
     "Import a profile of a compiled step, or add an anchor (a measured step)."},
    {"contention-not-measured",
     "contention between kernels in {precision} and {transport} collectives was not measured: kernels lose "
     "the multiprocessors that collectives occupy, and nothing else",
     "No contention was measured for the job's transport and precision",
     "The platform's calibration has no slow-downs of kernels and collectives that run at the same time in "
     "this way. Kernels lose the multiprocessors that NCCL's channels occupy; slower memory is not assumed.",
     "Kernels during all-reduces take 3 to 22 % longer on H200; the prediction interval includes 22 %.",
     "Measure a node with gradway-probe and add its calibration to the platform."},
    {"experts-uncertain",
     "experts: {load} is assumed; steps on one GPU take longer than predicted, and few on several GPUs were "
     "measured (docs/ACCURACY.md)",
     "Few steps of models with experts were compared with predictions",
     "The model has experts. Their load is equal unless parallel.expert_rows or parallel.expert_imbalance is "
     "set.",
     "docs/ACCURACY.md has all steps with experts; those on one GPU take longer than predicted.",
     "Set parallel.expert_rows to the measured rows of each expert, or add an anchor (a measured step)."},
    {"extrapolated-collectives", "", "Times of collectives are extrapolated from other measurements",
     "The calibration has no measurement of a collective with the job's operation, ranks, nodes, size, "
     "algorithm or channels, or none of its transport at all. The sentence names the reason.",
     "Measured transports: about 5 % over P2P, 24 % over SHM and 50 % over NET. Without any measurement: 30 "
     "% over P2P, a factor of two over NET and SHM. The prediction interval includes it.",
     "Run gradway-probe or nccl-tests on the job's nodes, then 'gradway calibrate fit' or 'gradway import "
     "nccl-tests'."},
    {"extrapolated-contention", "contention between kernels and collectives was measured {conditions}",
     "Contention was measured on another node, or with other ranks or channels",
     "The slow-downs of kernels and collectives that run at the same time come from another configuration "
     "than the job's. The sentence names the differences.",
     "5 % of the time of kernels during collectives with other ranks or channels, 22 % on another node; the "
     "prediction interval includes it.",
     "Measure a node of the job with gradway-probe."},
    {"fine-tuning-not-validated", "", "No step of LoRA or QLoRA was compared with a prediction",
     "job.finetune is lora or qlora.", unknown, "Measure a step and add it as an anchor."},
    {"flash-attention-1",
     "FlashAttention 1 was not timed: its published ratio to version 2 is used; long sequences with its "
     "Triton version took less time (docs/ACCURACY.md, MPT)",
     "FlashAttention 1 was not timed",
     "job.attention is flash1, whose time is that of version 2 times its authors' ratio.",
     "docs/ACCURACY.md has published steps of MPT with its Triton version: too long from 16,384 tokens on.",
     "Add an anchor (a measured step), or use version 2."},
    {"fp32-without-tf32",
     "job.precision fp32 assumes that TF32 is off; PyTorch's default enables it for convolutions "
     "(torch.backends.cudnn.allow_tf32), which job.precision tf32 matches better",
     "Precision fp32 excludes TF32, which PyTorch uses for convolutions by default",
     "job.precision is fp32, the GPU has TF32, and convolutions take a good part of the time.",
     "With PyTorch's default switches, convolutions are faster than predicted.",
     "Set job.precision: tf32, or switch torch.backends.cudnn.allow_tf32 off."},
    {"fp8-not-validated",
     "fp8: its kernels were timed one by one on an H100, and no step of our own was measured; "
     "docs/ACCURACY.md compares published ones",
     "No measured fp8 step of our own was compared with a prediction",
     "job.precision is fp8. Kernels were timed one by one on an H100.",
     "docs/ACCURACY.md has published steps in fp8, each with its error.", "Add an anchor (a measured step)."},
    {"implausible-anchor",
     "the anchor is {scale:.3g} times the step predicted without it, and 999 of 1,000 anchors are {low:.2g} "
     "to {high:.3g} times: check its 'step_time' or 'rate', 'batch', 'precision' and 'gpu'",
     "The anchor differs too much from the prediction without it",
     "The measured step of the anchor is farther from the unscaled prediction than 999 of 1,000 anchors.",
     "If the anchor belongs to another job, as far as the anchor is off.",
     "Check the anchor's 'step_time' or 'rate', 'batch', 'precision' and 'gpu'."},
    {"incomplete-activations",
     "the memory is without the tensors that autograd keeps for {operations}, which are unknown: whether the "
     "job fits is unknown; record the trace with profile_memory=True",
     "The activations of some operations are unknown",
     "The profile's trace has operations for which it is not known which tensors autograd keeps.",
     "The memory is too low by these tensors.", "Record the trace with profile_memory=True and import it."},
    {"interval-too-short",
     "the interval of {interval:.4g} s is shorter than the {write:.4g} s until a checkpoint is on storage: "
     "each checkpoint waits for the one before",
     "Checkpoints start more often than storage can finish them",
     "The interval between checkpoints is shorter than the time until one is on storage.",
     "The campaign is simulated as it would run: each checkpoint waits for the one before.",
     "Set a longer campaign.checkpoint.interval, or leave it out: the best one is then searched."},
    {"kernels-of-other-maker",
     "no kernels were timed on {gpu}: those of {timed}, another maker's, are moved to it by the rates that "
     "large products, attention and copies reach as published; its libraries choose other kernels for other "
     "shapes",
     "Kernels were timed on a GPU of another maker only",
     "The GPU is AMD's and its 'kernel_times_like' is NVIDIA's: no kernels of ROCm were timed.",
     "As far as ROCm's kernels depend on their shapes in another way; the prediction interval is as wide as "
     "that of a profile that is moved by the roofline.",
     "Add an anchor (a measured step), or time kernels: calibration/torch/measure_kernels.py."},
    {"launch-bound-profile",
     "the profiled step looks launch-bound, and the slow-down of launches by the profiler is unknown "
     "(assumed step without it: {step:.4g} ms): measure a step without the profiler and import again with "
     "--step-time",
     "The slow-down of launches by the profiler is unknown",
     "The profiled step looks launch-bound, and no step was measured without the profiler.",
     "Launch times are taken to be off by up to 50 %, which the prediction interval includes.",
     "Measure a step without the profiler and import the trace again with --step-time."},
    {"launches-of-other-host",
     "launch times are those of the machine with the {gpu}: another CPU may be slower",
     "Launch times are those of the machine on which the profile was recorded",
     "The profile was recorded on another GPU model than the platform's, thus probably with another CPU.",
     "Launch times are taken to be off by up to 50 %; steps that are not launch-bound hardly change.",
     "Record a profile on a node of the platform."},
    {"learning-changed", "{key}={value} changes what a step learns, not only its speed",
     "A recommended setting changes what a step learns",
     "'gradway optimize' recommends another batch, number of micro-steps or optimizer.", exact,
     "Check that the training still converges, or search other settings with --over."},
    {"mean-sample-size",
     "samples of {dataset} differ in size (standard deviation {percent:.0f} % of the mean), but all have the "
     "mean size here: small batches wait for each other longer; input.sample_sizes: drawn simulates it",
     "All samples have the mean size",
     "The dataset's samples differ in size, and input.sample_sizes is not 'drawn'.",
     "Waits for large samples are missing, most of all with batches of few samples.",
     "Set input.sample_sizes: drawn."},
    {"memory-exceeded", "", "The job is expected to exceed the GPU's memory",
     "The expected memory is above that of the GPU. If even the lower end of the 90 % prediction interval "
     "is, the job does not fit; else it may not fit.",
     "Activations: 5 % less to 15 % more than expected; all other tensors: 1 %.",
     "Reduce job.batch_per_gpu, recompute activations, or shard: 'gradway optimize --layout' searches."},
    {"memory-tight", "memory {range}; it leaves little room",
     "The job is expected to fit, but may exceed the GPU's memory",
     "The memory of the GPU is inside the 90 % prediction interval of what the job needs.",
     "Activations: 5 % less to 15 % more than expected; all other tensors: 1 %.",
     "Leave more room: a smaller job.batch_per_gpu, recomputation, or more sharding."},
    {"nccl-variable-without-effect", "{name}={value} changes nothing here: the step is the same without it",
     "A variable of NCCL changes nothing here",
     "The variable states what NCCL does anyway, or concerns a path or a collective that the job does not "
     "use.",
     "None: the step is the same without it.",
     "Leave it out, or look up with 'gradway run --json' which algorithm and transport NCCL uses."},
    {"no-failure-model",
     "no failure model is configured, but real campaigns have failures: 'gradway campaign --failures llama3' "
     "takes published rates, as 'gradway plan' does",
     "The campaign has no failures", "campaign.failures is not set.",
     "The campaign is too short by all failures and the restarts after them.",
     "Give '--failures llama3', or set campaign.failures.model: 'gradway list keys' names the published "
     "rates."},
    {"no-host-memory", "the platform {platform} describes no host memory: input copies take no time",
     "Input copies take no time",
     "The platform's file describes no host memory from which inputs could be copied.",
     "Steps with large inputs are too short by the copies that no kernel overlaps.",
     "Add the host's memory to the platform's file."},
    {"no-setting-within-limits", "no setting meets the limits of the training: all are ranked",
     "No setting meets the training's deadline or budget",
     "'gradway optimize' has a deadline or a budget that every tried setting misses.", exact,
     "Relax the limit, or search more settings, platforms or GPUs."},
    {"optimizer-not-timed",
     "no step of {optimizer} was timed: its time follows from the bytes that it moves and an assumed number "
     "of launches",
     "No step of the optimizer was timed",
     "The optimizer's time follows from the bytes that it moves and an assumed number of launches.", unknown,
     "Add an anchor (a measured step) with this optimizer."},
    {"profile-moved-by-roofline",
     "kernel times were moved from {profiled} to {gpu} by the roofline, which was off by up to 5 % from an "
     "H200 to an H100, 19 % to an L40S and 45 % to an A100: an anchor (a step measured on one {gpu}) removes "
     "most of this error",
     "Kernel times were moved to another GPU model by the roofline",
     "The profile was recorded on another GPU model than the platform's, and no anchor is given.",
     "Up to 5 % from an H200 to an H100, 19 % to an L40S and 45 % to an A100.",
     "Add an anchor: a step measured on one GPU of the platform."},
    {"profile-other-batch",
     "the profile was recorded at batch {profile}, the job has {job}: kernels were scaled, and the framework "
     "may choose others",
     "The profile was recorded at another batch than the job's",
     "Kernels are scaled to job.batch_per_gpu; the framework may choose others.",
     "Three profiles at half and double the batch: at most 4.1 %.", "Record a profile at the job's batch."},
    {"profile-other-optimizer",
     "the profile was recorded with the optimizer {profile}, the job has {job}: the optimizer's time comes "
     "from the roofline alone",
     "The profile was recorded with another optimizer than the job's",
     "The optimizer's time comes from the roofline alone.",
     "The optimizer's time may be off by a factor of two, as every time of the roofline.",
     "Record a profile with the job's optimizer."},
    {"profile-other-precision", "",
     "The profile was recorded with TF32 and the job runs without, or vice versa",
     "job.precision is fp32 or tf32, and the kernels of the profile are of the other kind. They are replayed "
     "unchanged.",
     "Matrix products and convolutions take another time in the job's precision, by an unknown amount.",
     "Set job.precision to that of the profile, or record a step with the job's precision."},
    {"replaced-file", "{file} is read from '{path}' instead of the file that is shipped with gradway",
     "A file is read instead of one that is shipped with gradway",
     "The scenario's folder, the working folder or one of GRADWAY_PATH has a file of that name.", exact,
     "Rename the file if this is not intended."},
    {"roofline-only", "compute times come from the roofline alone: no timed kernels apply to {gpu}",
     "Compute times come from the GPU's datasheet alone",
     "No kernels were timed on the GPU model or on one that stands for it.",
     "Steps of four models took 0.9 to 2.1 times the roofline; the prediction interval includes it.",
     "Add an anchor (a measured step), or time kernels: calibration/torch/measure_kernels.py."},
    {"shared-host-optimizer",
     "the optimizer's step on the CPU is predicted for one process; eight processes that share a host's "
     "cores took ten times as long: measure it",
     "Processes that share a host's cores slow each other's optimizer steps",
     "The optimizer runs on the CPU (offload), and its rate is that of a single process.",
     "Eight processes on one host took ten times as long as one.", "Measure the optimizer's step."},
    {"static-graph-not-predicted",
     "strategy.static_graph: its effect is not predicted; measured savings are negligible",
     "The effect of DDP's static graph is not predicted", "strategy.static_graph is true.",
     "Negligible in our measurements.", "Nothing."},
    {"tables-uncertain",
     "embedding tables: {lookups}; lookups are assumed to be spread evenly over the rows of a table, and no "
     "step of several GPUs was compared with a measured one",
     "Steps with embedding tables on several GPUs were not compared with predictions",
     "The model has embedding tables that the ranks divide (parallel.tables). With whole tables on ranks, "
     "the rank with the most lookups determines the step.",
     "Real lookups repeat popular rows, which are then in the cache: the prediction is too long rather than "
     "too short.",
     "Try 'parallel.tables: row_wise', or add an anchor (a measured step)."},
    {"tcp-rate-assumed",
     "the rate of a TCP connection of {platform} is not known: {rate:.3g} GB/s is assumed. 'iperf3 -c HOST "
     "-P 1' "
     "measures it for the fabric's key 'stream_bandwidth'",
     "The rate of a TCP connection is that of other nodes",
     "Nodes exchange over TCP, and the fabric has neither 'stream_bandwidth' nor 'window' and 'round_trip'.",
     "Connections of other nodes reach 1.0 to 1.5 GB/s; collectives over TCP may take twice or half as long. "
     "The "
     "prediction interval includes it.",
     "Measure a connection between two nodes with iperf3 and set 'stream_bandwidth', and 'streams' to the "
     "connections that NCCL opens per channel (NCCL_SOCKET_NTHREADS times NCCL_NSOCKS_PERTHREAD)."},
    {"unfinished-runs",
     "{unfinished} of {runs} runs were cancelled after 50 times the time of their steps: the figures are too "
     "optimistic",
     "Some simulated runs of the campaign were cancelled",
     "Runs that take more than 50 times the time of their steps are cancelled.",
     "Means and medians are too low, by an unknown amount.",
     "Reduce failures or the cost of a restart, or save checkpoints more often."},
    {"unknown-activations", "", "The memory is without activations",
     "The model is a profile that was imported without the shapes of its tensors, or job.recompute runs "
     "blocks again, of which a profile records nothing.",
     "The memory is a lower bound: whether the job fits is unknown.",
     "Import the trace again with record_shapes or profile_memory, or use a model of 'gradway list models'."},
    {"unknown-cores",
     "the platform {platform} has no number of cores: each loader worker has its own; add 'cores' to its "
     "file",
     "The platform has no number of cores",
     "The scenario loads samples, and the platform's file has no 'cores': each worker has its own.",
     "Loading is too fast if the workers of a node exceed its cores.", "Add 'cores' to the platform's file."},
    {"unknown-decode-cost", "{dataset} has no GPU time to decode a sample: decoding takes no time",
     "Decoding on the GPU takes no time",
     "input.decode is gpu, and the dataset has no GPU time to decode a sample.",
     "The step is too short by the time of decoding.", "Add 'gpu_decode' to the dataset's file."},
    {"unknown-lossy-steps",
     "how many more steps {hook} needs to the same loss is unknown: as many as without it are published for "
     "{model} only ({source})",
     "Steps to the same loss with lossy compression are unknown",
     "Gradients are compressed with a hook for which no number of steps is published that holds for any "
     "model.",
     "The training takes as many times longer as it needs more steps.",
     "Measure the steps of a short training with and without the hook, and set "
     "campaign.convergence.more_steps."},
    {"unknown-pinning-cost",
     "the platform {platform} has no rate at which a core copies: pinning a batch takes no time",
     "Pinning a batch takes no time",
     "input.pin_memory is true, and the platform has no rate at which a core copies.",
     "The loader is too fast by one copy of each batch.",
     "Measure the node with gradway-probe: the rate is that of pageable memory."},
    {"unknown-sample-cost", "{dataset} has no CPU time for a sample: workers only read",
     "Workers of the loader only read", "The dataset has no CPU time for a sample.",
     "Loading is too fast by all work on samples.",
     "Add 'cpu' to the dataset's file: 'gradway import loader' measures it."},
    {"unknown-write-rate", "the storage '{storage}' has no write rate: its read rate is used",
     "The checkpoints' storage has no write rate",
     "The storage's file has a read rate alone, which is used for writes.",
     "Checkpoints take longer than predicted if the storage writes more slowly than it reads.",
     "Add 'write' to the storage's file."},
    {"unmodelled-nccl-variable", "{name}={value} is accepted, but not modelled",
     "A variable of NCCL is accepted, but not modelled", "'nccl' has a variable that no prediction uses.",
     "As far as the variable changes the real step.", "Nothing, or measure the job with the variable."},
    {"untimed-operations",
     "times of these captured operations follow from the bytes they move alone: {operations}",
     "Times of some captured operations follow from the bytes they move alone",
     "A captured program has operations for which gradway knows no kernel, such as those of extensions.",
     "Unknown: their arithmetic is ignored, and they are assumed to be one kernel each.",
     "Add an anchor (a measured step), or import a profile of the step."},
    {"unused-anchor",
     "the scenario's anchor, of {anchor_gpu} in {anchor_precision}, is not used: the job runs on {gpu} in "
     "{precision}",
     "The scenario's anchor is not used",
     "The anchor was measured on another GPU or in another precision than the job's.",
     "The prediction is as uncertain as without an anchor.",
     "Measure an anchor on the job's GPU in its precision."},
    {"unused-kernel-times",
     "the calibration '{calibration}' has kernel times of {timed}, which are not used for {gpu}",
     "The calibration's kernel times are of another GPU",
     "The platform's calibration names another GPU for its kernel times than the platform has.",
     "The prediction uses the kernel times of the GPU's own file, if there are any.",
     "Check the calibration of the platform."},
    {"what-if-speeds", "this is a what-if: {speeds} as on {platform}",
     "Parts of the hardware are faster than they are",
     "'faster' is set: the prediction is that of an imagined platform.", exact,
     "Remove 'faster' to predict the platform as it is."},
});

constexpr auto forms = std::to_array<WarningForm>({
    {"extrapolated-collectives/predicted-table",
     "{collectives} was not measured: its time is predicted from {measured}"},
    {"extrapolated-collectives/other-operation",
     "{collectives} was not measured: {measured} is scaled by the bytes that each moves"},
    {"extrapolated-collectives/other-plan",
     "{collectives} was not measured with the algorithm and protocol that NCCL's variables force: its time "
     "is scaled by NCCL's own estimates"},
    {"extrapolated-collectives/other-channels",
     "{collectives} was not measured with this number of channels: its time is scaled as on two H200"},
    {"extrapolated-collectives/other-machine",
     "{collectives} were measured on {machine}: the host memory of such machines differs by a factor of two"},
    {"extrapolated-collectives/other-ranks",
     "{collectives} were measured on {measured} ranks, not on {ranks}: the same bus bandwidth is assumed"},
    {"extrapolated-collectives/more-nodes",
     "{collectives} was measured inside one node, the job has {nodes}: the same times are assumed"},
    {"extrapolated-collectives/below-sizes",
     "{collectives} was measured from {size} on: times of smaller sizes follow NCCL's own estimates"},
    {"extrapolated-collectives/beyond-sizes",
     "{collectives} was measured up to {size}: larger sizes are assumed to reach the same bandwidth"},
    {"extrapolated-collectives/not-measured",
     "{collectives} were not measured on this platform: {library}'s nominal rates, which are often too high, "
     "are used"},
    {"fine-tuning-not-validated/lora",
     "fine-tuning: kernels are those that PEFT issues; the narrow products of adapters are timed as wider "
     "ones, and no step was compared with a measured one"},
    {"fine-tuning-not-validated/qlora",
     "fine-tuning: kernels are those that PEFT and bitsandbytes issue; the narrow products of adapters are "
     "timed as wider ones, the kernel that unpacks 4 bits by the bytes it moves, and no step was compared "
     "with a measured one"},
    {"memory-exceeded/surely", "memory {range}; it would run out of memory"},
    {"memory-exceeded/perhaps", "memory {range}; it may run out of memory"},
    {"profile-other-precision/fp32",
     "job.precision is fp32, but the profile '{profile}' was recorded in tf32 (by their names, kernels that "
     "round to TF32 took {percent:.0f} % of the time of its products), and it is replayed unchanged: write "
     "'precision: tf32', or record a step with torch.backends.cuda.matmul.allow_tf32 and "
     "torch.backends.cudnn.allow_tf32 off"},
    {"profile-other-precision/tf32",
     "job.precision is tf32, but the profile '{profile}' was recorded in fp32 (by their names, kernels that "
     "round to TF32 took {percent:.0f} % of the time of its products), and it is replayed unchanged: write "
     "'precision: fp32', or record a step with torch.set_float32_matmul_precision('high'), or import it "
     "again with --precision tf32 if the names of its kernels do not say so"},
    {"unknown-activations/recomputed",
     "the memory is without activations: a profile does not record what recomputed blocks keep"},
    {"unknown-activations/profile",
     "the memory is without activations, which the profile does not contain: whether the job fits is "
     "unknown; import the trace again"},
});

}  // namespace warning_table
}  // namespace gradway
