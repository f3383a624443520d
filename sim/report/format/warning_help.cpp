// SPDX-License-Identifier: Apache-2.0
// Explanations of warnings. Figures are those of the code that uses them, with sources there and in
// docs/ACCURACY.md.
#include <array>
#include <variant>

#include "sim/report/format/warning_words.hpp"

namespace gradway::report {
namespace {

constexpr std::string_view exact = "The prediction is not affected.";
constexpr std::string_view unknown = "Unknown: it was not compared with a measurement.";

}  // namespace

std::span<const WarningHelp> warning_help() {
  static constexpr std::array<WarningHelp, std::variant_size_v<Warning>> rows{{
      {"alternating-steps", "The reported step is the mean of steps of different length",
       "The job reaches no steady state of one step: it repeats after several steps, as with an input that "
       "every second step waits for.",
       "The mean is exact for long runs; a single step is as long as one of the two times.",
       "Compare means of several measured steps."},
      {"anchor-other-batch", "The anchor was measured at another batch than the job's",
       "A measured step (an anchor) scales compute, and its batch differs from job.batch_per_gpu.",
       "About 8 % at twice or half the batch, and more with the square root of the number of doublings; the "
       "prediction interval includes it.",
       "Measure the anchor at the job's batch."},
      {"assumed-pageable-rate", "The platform has no rate for copies from pageable memory",
       "input.pin_memory is false, and the platform's file has no pageable rate.",
       "Copies of inputs take longer than predicted, by an unknown amount.",
       "Measure the node with gradway-probe, or set input.pin_memory: true."},
      {"channels-last-faster", "Convolutions would be faster with images in NHWC",
       "A model with convolutions runs on tensor cores with images in NCHW, PyTorch's default.", exact,
       "Set job.memory_format: channels_last, and in PyTorch model.to(memory_format=torch.channels_last)."},
      {"checkpoint-exceeds-mttf", "A checkpoint takes longer than the mean time to a failure",
       "The pause and the write of a checkpoint together exceed the mean time to a failure of the job.",
       "The campaign hardly advances; its figures depend on few successful checkpoints.",
       "Use faster storage, smaller or sharded checkpoints, or fewer nodes."},
      {"checkpoints-lost-with-node", "The loss of checkpoints with a failing node is not simulated",
       "The checkpoints' storage is inside the nodes, and the campaign has failures.",
       "The predicted campaign is too short whenever a failed node takes its checkpoint with it.",
       "Use storage on a network, or copy checkpoints to another node."},
      {"compiled-capture", "A compiled program was captured as eager PyTorch",
       "The captured program calls torch.compile, which 'gradway capture' records as eager PyTorch.",
       "The predicted step is too long, by an amount that depends on the program.",
       "Import a profile of a compiled step, or add an anchor (a measured step)."},
      {"contention-not-measured", "No contention was measured for the job's transport and precision",
       "The platform's calibration has no slow-downs of kernels and collectives that run at the same time in "
       "this way. Kernels lose the multiprocessors that NCCL's channels occupy; slower memory is not "
       "assumed.",
       "Kernels during all-reduces take 3 to 22 % longer on H200; the prediction interval includes 22 %.",
       "Measure a node with gradway-probe and add its calibration to the platform."},
      {"experts-uncertain", "Few steps of models with experts were compared with predictions",
       "The model has experts. Their load is equal unless parallel.expert_rows or parallel.expert_imbalance "
       "is set.",
       "docs/ACCURACY.md has all steps with experts; those on one GPU take longer than predicted.",
       "Set parallel.expert_rows to the measured rows of each expert, or add an anchor (a measured step)."},
      {"extrapolated-collectives", "Times of collectives are extrapolated from other measurements",
       "The calibration has no measurement of a collective with the job's operation, ranks, nodes, size, "
       "algorithm or channels, or none of its transport at all. The sentence names the reason.",
       "Measured transports: about 5 % over P2P, 24 % over SHM and 50 % over NET. Without any measurement: "
       "30 "
       "% over P2P, a factor of two over NET and of four over SHM. The prediction interval includes it.",
       "Run gradway-probe or nccl-tests on the job's nodes, then 'gradway calibrate fit' or 'gradway import "
       "nccl-tests'."},
      {"extrapolated-contention", "Contention was measured on another node, or with other ranks or channels",
       "The slow-downs of kernels and collectives that run at the same time come from another configuration "
       "than the job's. The sentence names the differences.",
       "5 % of the time of kernels during collectives with other ranks or channels, 22 % on another node; "
       "the prediction interval includes it.",
       "Measure a node of the job with gradway-probe."},
      {"fine-tuning-not-validated", "No step of LoRA or QLoRA was compared with a prediction",
       "job.finetune is lora or qlora.", unknown, "Measure a step and add it as an anchor."},
      {"flash-attention-1", "FlashAttention 1 was not timed",
       "job.attention is flash1, whose time is that of version 2 times its authors' ratio.",
       "docs/ACCURACY.md has published steps of MPT with its Triton version: too long from 16,384 tokens on.",
       "Add an anchor (a measured step), or use version 2."},
      {"fp32-without-tf32", "Precision fp32 excludes TF32, which PyTorch uses for convolutions by default",
       "job.precision is fp32, the GPU has TF32, and convolutions take a good part of the time.",
       "With PyTorch's default switches, convolutions are faster than predicted.",
       "Set job.precision: tf32, or switch torch.backends.cudnn.allow_tf32 off."},
      {"fp8-not-validated", "No measured fp8 step of our own was compared with a prediction",
       "job.precision is fp8. Kernels were timed one by one on an H100.",
       "docs/ACCURACY.md has published steps in fp8, each with its error.",
       "Add an anchor (a measured step)."},
      {"implausible-anchor", "The anchor differs too much from the prediction without it",
       "The measured step of the anchor is farther from the unscaled prediction than 999 of 1,000 anchors.",
       "If the anchor belongs to another job, as far as the anchor is off.",
       "Check the anchor's 'step_time' or 'rate', 'batch', 'precision' and 'gpu'."},
      {"incomplete-activations", "The activations of some operations are unknown",
       "The profile's trace has operations for which it is not known which tensors autograd keeps.",
       "The memory is too low by these tensors.", "Record the trace with profile_memory=True and import it."},
      {"interval-too-short", "Checkpoints start more often than storage can finish them",
       "The interval between checkpoints is shorter than the time until one is on storage.",
       "The campaign is simulated as it would run: each checkpoint waits for the one before.",
       "Set a longer campaign.checkpoint.interval, or leave it out: the best one is then searched."},
      {"kernels-of-other-maker", "Kernels were timed on a GPU of another maker only",
       "The GPU is AMD's and its 'kernel_times_like' is NVIDIA's: no kernels of ROCm were timed.",
       "As far as ROCm's kernels depend on their shapes in another way; the prediction interval is as wide "
       "as "
       "that of a profile that is moved by the roofline.",
       "Add an anchor (a measured step), or time kernels: calibration/torch/measure_kernels.py."},
      {"launch-bound-profile", "The slow-down of launches by the profiler is unknown",
       "The profiled step looks launch-bound, and no step was measured without the profiler.",
       "Launch times are taken to be off by up to 50 %, which the prediction interval includes.",
       "Measure a step without the profiler and import the trace again with --step-time."},
      {"launches-of-other-host", "Launch times are those of the machine on which the profile was recorded",
       "The profile was recorded on another GPU model than the platform's, thus probably with another CPU.",
       "Launch times are taken to be off by up to 50 %; steps that are not launch-bound hardly change.",
       "Record a profile on a node of the platform."},
      {"learning-changed", "A recommended setting changes what a step learns",
       "'gradway optimize' recommends another batch, number of micro-steps or optimizer.", exact,
       "Check that the training still converges, or search other settings with --over."},
      {"mean-sample-size", "All samples have the mean size",
       "The dataset's samples differ in size, and input.sample_sizes is not 'drawn'.",
       "Waits for large samples are missing, most of all with batches of few samples.",
       "Set input.sample_sizes: drawn."},
      {"memory-exceeded", "The job is expected to exceed the GPU's memory",
       "The expected memory is above that of the GPU. If even the lower end of the 90 % prediction interval "
       "is, the job does not fit; else it may not fit.",
       "Activations: 5 % less to 15 % more than expected; all other tensors: 1 %.",
       "Reduce job.batch_per_gpu, recompute activations, or shard: 'gradway optimize --layout' searches."},
      {"memory-tight", "The job is expected to fit, but may exceed the GPU's memory",
       "The memory of the GPU is inside the 90 % prediction interval of what the job needs.",
       "Activations: 5 % less to 15 % more than expected; all other tensors: 1 %.",
       "Leave more room: a smaller job.batch_per_gpu, recomputation, or more sharding."},
      {"no-failure-model", "The campaign has no failures", "campaign.failures is not set.",
       "The campaign is too short by all failures and the restarts after them.",
       "Give '--failures llama3', or set campaign.failures.model: 'gradway list keys' names the published "
       "rates."},
      {"no-host-memory", "Input copies take no time",
       "The platform's file describes no host memory from which inputs could be copied.",
       "Steps with large inputs are too short by the copies that no kernel overlaps.",
       "Add the host's memory to the platform's file."},
      {"no-setting-within-limits", "No setting meets the training's deadline or budget",
       "'gradway optimize' has a deadline or a budget that every tried setting misses.", exact,
       "Relax the limit, or search more settings, platforms or GPUs."},
      {"optimizer-not-timed", "No step of the optimizer was timed",
       "The optimizer's time follows from the bytes that it moves and an assumed number of launches.",
       unknown, "Add an anchor (a measured step) with this optimizer."},
      {"profile-moved-by-roofline", "Kernel times were moved to another GPU model by the roofline",
       "The profile was recorded on another GPU model than the platform's, and no anchor is given.",
       "Up to 5 % from an H200 to an H100, 19 % to an L40S and 45 % to an A100.",
       "Add an anchor: a step measured on one GPU of the platform."},
      {"profile-other-batch", "The profile was recorded at another batch than the job's",
       "Kernels are scaled to job.batch_per_gpu; the framework may choose others.",
       "Three profiles at half and double the batch: at most 4.1 %.", "Record a profile at the job's batch."},
      {"profile-other-optimizer", "The profile was recorded with another optimizer than the job's",
       "The optimizer's time comes from the roofline alone.",
       "The optimizer's time may be off by a factor of two, as every time of the roofline.",
       "Record a profile with the job's optimizer."},
      {"profile-other-precision",
       "The profile was recorded with TF32 and the job runs without, or vice versa",
       "job.precision is fp32 or tf32, and the kernels of the profile are of the other kind. They are "
       "replayed "
       "unchanged.",
       "Matrix products and convolutions take another time in the job's precision, by an unknown amount.",
       "Set job.precision to that of the profile, or record a step with the job's precision."},
      {"replaced-file", "A file is read instead of one that is shipped with gradway",
       "The scenario's folder, the working folder or one of GRADWAY_PATH has a file of that name.", exact,
       "Rename the file if this is not intended."},
      {"roofline-only", "Compute times come from the GPU's datasheet alone",
       "No kernels were timed on the GPU model or on one that stands for it.",
       "Steps of four models took 0.9 to 2.1 times the roofline; the prediction interval includes it.",
       "Add an anchor (a measured step), or time kernels: calibration/torch/measure_kernels.py."},
      {"shared-host-optimizer", "Processes that share a host's cores slow each other's optimizer steps",
       "The optimizer runs on the CPU (offload), and its rate is that of a single process.",
       "Eight processes on one host took ten times as long as one.", "Measure the optimizer's step."},
      {"static-graph-not-predicted", "The effect of DDP's static graph is not predicted",
       "strategy.static_graph is true.", "Negligible in our measurements.", "Nothing."},
      {"tables-uncertain", "Steps with embedding tables on several GPUs were not compared with predictions",
       "The model has embedding tables that the ranks divide (parallel.tables). With whole tables on ranks, "
       "the "
       "rank with the most lookups determines the step.",
       "Real lookups repeat popular rows, which are then in the cache: the prediction is too long rather "
       "than "
       "too short.",
       "Try 'parallel.tables: row_wise', or add an anchor (a measured step)."},
      {"unfinished-runs", "Some simulated runs of the campaign were cancelled",
       "Runs that take more than 50 times the time of their steps are cancelled.",
       "Means and medians are too low, by an unknown amount.",
       "Reduce failures or the cost of a restart, or save checkpoints more often."},
      {"unknown-activations", "The memory is without activations",
       "The model is a profile that was imported without the shapes of its tensors, or job.recompute runs "
       "blocks again, of which a profile records nothing.",
       "The memory is a lower bound: whether the job fits is unknown.",
       "Import the trace again with record_shapes or profile_memory, or use a model of 'gradway list "
       "models'."},
      {"unknown-cores", "The platform has no number of cores",
       "The scenario loads samples, and the platform's file has no 'cores': each worker has its own.",
       "Loading is too fast if the workers of a node exceed its cores.",
       "Add 'cores' to the platform's file."},
      {"unknown-decode-cost", "Decoding on the GPU takes no time",
       "input.decode is gpu, and the dataset has no GPU time to decode a sample.",
       "The step is too short by the time of decoding.", "Add 'gpu_decode' to the dataset's file."},
      {"unknown-lossy-steps", "Steps to the same loss with lossy compression are unknown",
       "Gradients are compressed with a hook for which no number of steps is published that holds for any "
       "model.",
       "The training takes as many times longer as it needs more steps.",
       "Measure the steps of a short training with and without the hook, and set "
       "campaign.convergence.more_steps."},
      {"unknown-pinning-cost", "Pinning a batch takes no time",
       "input.pin_memory is true, and the platform has no rate at which a core copies.",
       "The loader is too fast by one copy of each batch.",
       "Measure the node with gradway-probe: the rate is that of pageable memory."},
      {"unknown-sample-cost", "Workers of the loader only read", "The dataset has no CPU time for a sample.",
       "Loading is too fast by all work on samples.",
       "Add 'cpu' to the dataset's file: 'gradway import loader' measures it."},
      {"unknown-write-rate", "The checkpoints' storage has no write rate",
       "The storage's file has a read rate alone, which is used for writes.",
       "Checkpoints take longer than predicted if the storage writes more slowly than it reads.",
       "Add 'write' to the storage's file."},
      {"nccl-variable-without-effect", "A variable of NCCL changes nothing here",
       "The variable states what NCCL does anyway, or concerns a path or a collective that the job does not "
       "use.",
       "None: the step is the same without it.",
       "Leave it out, or look up with 'gradway run --json' which algorithm and transport NCCL uses."},
      {"unmodelled-nccl-variable", "A variable of NCCL is accepted, but not modelled",
       "'nccl' has a variable that no prediction uses.", "As far as the variable changes the real step.",
       "Nothing, or measure the job with the variable."},
      {"untimed-operations", "Times of some captured operations follow from the bytes they move alone",
       "A captured program has operations for which gradway knows no kernel, such as those of extensions.",
       "Unknown: their arithmetic is ignored, and they are assumed to be one kernel each.",
       "Add an anchor (a measured step), or import a profile of the step."},
      {"unused-anchor", "The scenario's anchor is not used",
       "The anchor was measured on another GPU or in another precision than the job's.",
       "The prediction is as uncertain as without an anchor.",
       "Measure an anchor on the job's GPU in its precision."},
      {"unused-kernel-times", "The calibration's kernel times are of another GPU",
       "The platform's calibration names another GPU for its kernel times than the platform has.",
       "The prediction uses the kernel times of the GPU's own file, if there are any.",
       "Check the calibration of the platform."},
      {"what-if-speeds", "Parts of the hardware are faster than they are",
       "'faster' is set: the prediction is that of an imagined platform.", exact,
       "Remove 'faster' to predict the platform as it is."},
  }};
  return rows;
}

}  // namespace gradway::report
