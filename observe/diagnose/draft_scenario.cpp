// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/draft_scenario.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr double mebibyte = 1024.0 * 1024;

/// Bytes of the gradients' all-reduces in a step, in order, and those of the gradients themselves.
struct Buckets {
  std::vector<double> bytes;
  double gradients = 0;
  double largest_gradient = 0;

  double sum() const {
    double result = 0;
    for (const auto size : bytes) result += size;
    return result;
  }
  /// Elements are reduced with half of their bytes.
  bool are_halved() const { return sum() < 0.75 * gradients; }
};

Buckets buckets_of(const JobRun& run, const Profile& profile) {
  Buckets buckets;
  for (const auto index : gradient_reductions(run, run.steps - 1)) {
    if (run.collectives[index].kind == CollectiveKind::all_reduce)
      buckets.bytes.push_back(run.collectives[index].bytes);
  }
  for (const auto& gradient : profile.gradients) {
    double bytes = gradient.element_bytes;
    for (const auto size : gradient.shape) bytes *= static_cast<double>(size);
    buckets.gradients += bytes;
    buckets.largest_gradient = std::max(buckets.largest_gradient, bytes);
  }
  return buckets;
}

/// DDP closes a bucket with the gradient that reaches the cap: all but the last bucket of a step have at
/// least the cap, and without their last gradient less. Empty: PyTorch's default, with a first bucket of
/// 1 MiB.
std::optional<double> cap_of(const Buckets& buckets) {
  const double scale = buckets.are_halved() ? 2 : 1;
  if (buckets.bytes.size() < 2) return std::ceil(scale * buckets.sum() / mebibyte) * mebibyte;
  const auto least_of = [&](std::size_t from) {
    auto least = scale * buckets.bytes[from];
    for (auto i = from; i + 1 < buckets.bytes.size(); ++i) least = std::min(least, scale * buckets.bytes[i]);
    return least;
  };
  const auto is_default = [&](double least) {
    return least >= default_bucket && least - buckets.largest_gradient < default_bucket;
  };
  if (is_default(least_of(0))) return default_bucket;
  if (buckets.bytes.size() > 2 && is_default(least_of(1))) return std::nullopt;
  return std::max(1.0, std::floor(least_of(0) / mebibyte)) * mebibyte;
}

}  // namespace

Draft draft_scenario(const JobRun& run, const Diagnosis& diagnosis, const std::string& platform,
                     const std::string& model, const Profile& profile, bool has_bucket_views) {
  const auto& first = run.ranks.front();
  Where file;
  file.file = first.file;
  if (diagnosis.exchange == ExchangeKind::sharded || diagnosis.exchange == ExchangeKind::other)
    refuse_at(file,
              "a scenario can be drafted from one GPU or from DDP only: shards and parts of a model do not "
              "show the step of the whole",
              "record a step on one GPU, import it with 'gradway import kineto', and write the strategy "
              "(docs/scenario-keys.md)");
  Draft draft;
  draft.file = first.file;
  draft.traces = run.ranks.size();
  const auto note = [&](std::string text) { draft.notes.push_back({file, std::move(text)}); };
  draft.keys = {{"model", model},
                {"platform", platform},
                {"job.gpus", fmt::format("{}", run.world)},
                {"job.batch_per_gpu", fmt::format("{}", profile.batch)},
                {"job.precision", std::string{name_of(profile.precision)}}};
  note(fmt::format("how many nodes the {} ranks run on; the scenario fills node after node", run.world));
  note("the data loader: samples lie in memory ('input')");
  if (diagnosis.exchange == ExchangeKind::none) {
    if (run.world > 1) note("the strategy: the traces have no collectives");
    draft.keys.emplace_back("strategy.kind", "none");
    return draft;
  }
  const auto buckets = buckets_of(run, profile);
  draft.keys.emplace_back("strategy.kind", "ddp");
  if (const auto cap = cap_of(buckets))
    draft.keys.emplace_back("strategy.bucket_cap", fmt::format("{:.0f} MiB", *cap / mebibyte));
  if (buckets.bytes.size() < 2) note("bucket_cap_mb: all gradients are in one bucket, which may be larger");
  if (buckets.are_halved())
    draft.keys.emplace_back("strategy.comm_hook", profile.precision == Precision::fp16 ? "fp16" : "bf16");
  if (has_bucket_views) draft.keys.emplace_back("strategy.gradient_as_bucket_view", "true");
  note("static_graph, and NCCL's variables");
  return draft;
}

}  // namespace gradway
