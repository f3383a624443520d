// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "observe/watch/watch.hpp"
#include "readers/step_log/step_log.hpp"
#include "sim/base/random.hpp"

using namespace gradway;

namespace {

/// 400 steps of 100 ms with normal noise of 1 %, changed by a function of the step.
template <class Change>
std::vector<Seconds> steps_with(const Change& change, std::uint64_t seed = 1) {
  Random random{seed, RandomStream::clients};
  std::vector<Seconds> times;
  for (int i = 0; i < 400; ++i) times.push_back(Seconds{change(i, 0.1 * (1 + 0.01 * random.normal()))});
  return times;
}

double unchanged(int, double time) {
  return time;
}

}  // namespace

TEST_CASE("noise alone is healthy") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const auto run = watch_steps(steps_with(unchanged, seed), {});
    CHECK(run.findings.empty());
    CHECK(run.lost_share() == 0);
  }
}

TEST_CASE("a jump is found at its step, with what it costs") {
  const auto run = watch_steps(steps_with([](int i, double t) { return i < 250 ? t : 1.2 * t; }), {});
  REQUIRE(run.findings.size() == 1);
  const auto& jump = run.findings[0];
  CHECK(jump.kind == WatchKind::jump);
  CHECK(jump.first >= 247);
  CHECK(jump.first <= 253);
  CHECK(jump.last == 399);
  CHECK(jump.before.value() == Approx(0.1).epsilon(0.005));
  CHECK(jump.after.value() == Approx(0.12).epsilon(0.005));
  CHECK(jump.lost.value() == Approx(150 * 0.02).epsilon(0.05));
  CHECK(run.lost_share() == Approx(3 / 43.0).epsilon(0.05));
}

TEST_CASE("a slow phase that ends is two jumps, of which the first costs time") {
  const auto run =
      watch_steps(steps_with([](int i, double t) { return i < 100 || i >= 200 ? t : 1.1 * t; }), {});
  REQUIRE(run.findings.size() == 2);
  CHECK(run.findings[0].after > run.findings[0].before);
  CHECK(run.findings[0].lost.value() == Approx(100 * 0.01).epsilon(0.1));
  CHECK(run.findings[1].after < run.findings[1].before);
  CHECK(run.findings[1].lost.value() == 0);
}

TEST_CASE("a drift is a line, not a staircase of jumps") {
  const auto run = watch_steps(steps_with([](int i, double t) { return t * (1 + 0.3 * i / 399.0); }), {});
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].kind == WatchKind::drift);
  CHECK(run.findings[0].before.value() == Approx(0.1).epsilon(0.01));
  CHECK(run.findings[0].after.value() == Approx(0.13).epsilon(0.01));
  CHECK(run.findings[0].lost.value() == Approx(400 * 0.015).epsilon(0.05));
}

TEST_CASE("periodic stalls and random stalls are found separately") {
  const auto run = watch_steps(steps_with([](int i, double t) {
                                 if (i % 50 == 20) return t + 1.0;
                                 return i == 77 || i == 203 ? t + 0.3 : t;
                               }),
                               {});
  REQUIRE(run.findings.size() == 2);
  CHECK(run.findings[0].kind == WatchKind::periodic_stalls);
  CHECK(run.findings[0].period == 50);
  CHECK(run.findings[0].steps == 8);
  CHECK(run.findings[0].first == 20);
  CHECK(run.findings[0].lost.value() == Approx(8 * 1.0).epsilon(0.01));
  CHECK(run.findings[1].kind == WatchKind::random_stalls);
  CHECK(run.findings[1].steps == 2);
  CHECK(run.findings[1].lost.value() == Approx(2 * 0.3).epsilon(0.02));
}

TEST_CASE("long first steps are the warm-up") {
  const auto run = watch_steps(steps_with([](int i, double t) { return i < 3 ? 20 * t : t; }), {});
  CHECK(run.warm_up == 3);
  CHECK(run.findings.empty());
}

TEST_CASE("a run is compared with the prediction interval") {
  const auto times = steps_with(unchanged);
  CHECK(watch_steps(times, ExpectedSteps{Seconds{0.09}, Seconds{0.1}, Seconds{0.11}}).findings.empty());
  const auto slow = watch_steps(times, ExpectedSteps{Seconds{0.07}, Seconds{0.075}, Seconds{0.08}});
  REQUIRE(slow.findings.size() == 1);
  CHECK(slow.findings[0].kind == WatchKind::slower_than_expected);
  CHECK(slow.lost_share() == Approx(0.2).epsilon(0.01));
  const auto fast = watch_steps(times, ExpectedSteps{Seconds{0.2}, Seconds{0.21}, Seconds{0.22}});
  REQUIRE(fast.findings.size() == 1);
  CHECK(fast.findings[0].kind == WatchKind::faster_than_expected);
  CHECK(fast.lost_share() == 0);
}

namespace {

/// Prefix of torchtitan's lines, with its colours.
constexpr auto titan =
    "[rank0]:[titan] 2025-03-01 10:00:00,123 - root - INFO - \x1b[31mstep: {step:2}  \x1b[32mloss:  8.1234  "
    "\x1b[33mmemory: 41.20GiB(43.37%)  \x1b[34mtps: {tps:.0f}  \x1b[36mtflops: 412.34  \x1b[35mmfu: "
    "41.69%\x1b[39m\n";

/// A line of a step, as programs print it, by their format strings.
struct LogForm {
  const char* name;
  const char* lines;
  double batch = 0;
  std::int64_t first = 1;  ///< number of the first step
  const char* header = "";
};

const std::vector<LogForm> log_forms{
    {"torchtitan", titan, 16384},
    {"DeepSpeed",
     "[2025-03-01 10:00:00,322] [INFO] [timer.py:199:stop] epoch=0/micro_step={step}/global_step={step}, "
     "RunningAvgSamplesPerSec=27.7, CurrSamplesPerSec={samples}, MemAllocated=6.1GB\n",
     64},
    {"DeepSpeed, pipelines",
     "steps: {step} loss: 2.5000 iter time (s): {s:.3f} samples/sec: {samples:.3f}\n"},
    {"NeMo",
     "Training epoch 0, iteration {step}/99 | lr: 1.499e-07 | global_step: {step} | reduced_train_loss: "
     "11.03 "
     "| train_step_timing in s: {s:.3f} | consumed_samples: 128\n"},
    {"MaxText",
     "completed step: {zero}, seconds: {s:.3f}, TFLOP/s/device: 312.500, Tokens/s/device: {tps:.3f}, "
     "total_weights: 65536, loss: 10.100\n",
     0, 0},
    {"nanotron",
     "[default0]:03/01/2025 10:00:00 [INFO|DP=0|PP=0|TP=0|node]: iteration: {step} / 5000 | consumed_tokens: "
     "1.02M | elapsed_time_per_iteration_ms: {s:.2f}K | tokens_per_sec: 56.7K | tokens_per_sec_per_gpu: "
     "7.09K\n"},
    {"nanotron of 2025",
     "03/01/2025 10:00:00 [INFO|DP=0|PP=0|TP=0]: iteration: {step} / 5000 | consumed_tokens: 1.02M | "
     "time_per_iteration_ms: {s:.2f}K | tokens_per_sec: 56.7K | tokens_per_sec_per_gpu: 7.09K\n"},
    {"OLMo-core",
     "2025-03-01 10:00:00.123\tnode:0\tolmo_core.train.callbacks.console_logger:86\tINFO\t[step={step}/4800,"
     "epoch=1,eta=3h]\n    train/CE loss=2.500\n    throughput/device/TPS={tps:.0f}\n    "
     "throughput/device/TPS (actual avg)=7,012\n    throughput/device/BPS={steps:.4f}\n"},
    {"LLM Foundry",
     "[batch={step}/4800]:\n\t Train time/batch: {zero}\n\t Train throughput/batches_per_sec: {steps:.4f}\n"},
    {"xtuner",
     "03/01 10:00:00 - mmengine - INFO - Iter(train) [{step:5}/5000]  lr: 2.0000e-05  eta: 3:12:30  time: "
     "{s:.4f}  data_time: 0.0301  memory: 10100  loss: 1.2345\n"},
    {"xtuner 1.0",
     "[XTuner][RANK 0][2025-03-01 10:00:00][INFO] Epoch 1 Step {step}/80 data_time: 0.0031 lr: 0.000020 "
     "time: "
     "{s:.4f} text_tokens: 16384 total_loss: 1.234 tgs: {tps:.1f}\n"},
    {"torchvision",
     "Epoch: [0]  [{zero:4}/5004]  eta: 1:02:12  lr: 0.1  img/s: {samples:.3f}  loss: 6.9 (6.9)  time: "
     "{s:.4f} "
     " data: 0.0301  max mem: 10100\n",
     0, 0},
    {"PyTorch's ImageNet example",
     "Epoch: [0][{step:5}/5005]\tTime {s:6.3f} (  2.402)\tData  0.030 ( 0.031)\tLoss 6.9e+00 (6.9e+00)\n"},
    {"tqdm", " 12%|#  | {step}/80 [00:18<02:46, {s:5.2f}s/it, loss=2.31]\n"},
    {"Lightning", "Epoch 0:   1%|#  | {step}/80 [00:01<02:10,  {steps:.2f}it/s, v_num=3, train_loss=2.31]\n"},
    {"Weights & Biases", "\"{step}\",\"{s}\",\"{s}\",\"{s}\"\n", 0, 1,
     "\"Step\",\"run - train/step_time\",\"run - train/step_time__MIN\",\"run - train/step_time__MAX\"\n"},
    {"TensorBoard", "{wall:.3f},{step},{s}\n", 0, 1, "Wall time,Step,Value\n1700000000.000,0,0.0\n"},
    {"numbers", "{s:.4f}\n"},
    {"Megatron-LM",
     " iteration {step:8}/  500000 | consumed samples: 256 | elapsed time per iteration (ms): {ms:.1f} | "
     "learning rate: 1.500E-05 | global batch size:   256 | lm loss: 1.000000E+01 |\n"},
    {"Megatron-LM with means",
     " [2025-09-12 07:10:00.123456] iteration {step:8}/   10000 | elapsed time per iteration (ms): "
     "{ms:.1f}/2412.3 | throughput per GPU (TFLOP/s/GPU): 412.3/410.1 |\n"},
    {"Megatron-LM under srun",
     "15:  [2025-09-12 07:10:00] iteration {step:8}/   10000 | consumed samples: 128 | elapsed time per "
     "iteration (ms): {ms:.1f} | throughput per GPU (TFLOP/s/GPU): 412.3 |\n"},
    {"Megatron-Bridge",
     "Step Time : {s:.2f}s GPU utilization: 812.4MODEL_TFLOP/s/GPU\n iteration {step:8}/      50 | elapsed "
     "time per iteration (ms): {ms:.1f} | learning rate: 3.0E-07 |\n"},
    {"nanoGPT", "iter {zero}: loss 3.0000, time {ms:.2f}ms, mfu 41.20%\n", 0, 0},
    {"modded-nanoGPT", "step:{step}/1750 train_time:{total:.0f}ms step_avg:2310.00ms\n"},
    {"timm",
     "Train: 0 [{zero:>4}/1251 (  4%)]  Loss: 6.941 (6.94)  Time: {s:.3f}s, {samples:>7.2f}/s  (2.402s,  "
     "106.60/s)  LR: 1.000e-06  Data: 0.030 (0.031)\n",
     0, 0},
    {"two ranks",
     "[rank0]: iter {step}: loss 3.0, time {ms:.0f}ms\n[rank1]: iter {step}: loss 3.0, time {ms:.0f}ms\n"},
    {"OpenCLIP",
     "Train Epoch: 0 [{step:>7}/80 (1%)] Data (t): 0.030 Batch (t): {s:.3f}, {samples:.1f}/s LR: 0.000005\n"},
    {"PyTorch's language model",
     "| epoch   1 | {step:5}/ 2983 batches | lr 20.00 | ms/batch {ms:5.2f} | loss  5\n"},
    {"verl",
     "step:{step} - actor/loss:0.1 - timing_s/gen:1.1 - timing_s/step:{s:.3f} - perf/throughput:1234\n"},
    {"fairseq",
     "train_inner | epoch 001: {step:6} / 5000 loss=12.1, wps={tps:.1f}, ups={steps:.2f}, wpb=16384, "
     "num_updates={step}, lr=1e-07\n"}};

}  // namespace

TEST_CASE("logs of each form give the same 80 steps, and the stalls at 41 and 61", "[watch][import]") {
  for (const auto& form : log_forms) {
    CAPTURE(form.name);
    std::string text = form.header;
    double total = 0;
    for (int step = 1; step <= 80; ++step) {
      const auto time = step == 41 ? 7.7 : step == 61 ? 7.6 : 2.31;
      total += time;
      text += fmt::format(fmt::runtime(form.lines), fmt::arg("step", step), fmt::arg("zero", step - 1),
                          fmt::arg("s", time), fmt::arg("ms", 1e3 * time), fmt::arg("steps", 1 / time),
                          fmt::arg("samples", 64 / time), fmt::arg("tps", 16384 / time),
                          fmt::arg("total", 1e3 * total), fmt::arg("wall", 1'700'000'000 + total));
    }
    std::istringstream lines{text};
    StepLogOptions options{.assumes_seconds = true};
    if (form.batch > 0) options.batch = form.batch;
    const auto steps = read_step_log(lines, "train.log", options);
    std::vector<Seconds> times;
    for (const auto& step : steps) times.push_back(step.time);

    const auto run = watch_steps(times, std::nullopt);

    REQUIRE(run.steps == 80);
    CHECK(run.median.value() == Approx(2.31).epsilon(0.01));  // of it/s with two digits
    REQUIRE(run.findings.size() == 1);
    CHECK(run.findings[0].steps == 2);
    CHECK(steps[run.findings[0].first].number == 40 + form.first);
    CHECK(steps[run.findings[0].last].number == 60 + form.first);
  }
}
