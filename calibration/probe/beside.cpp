// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/beside.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "calibration/harness/sizes.hpp"
#include "calibration/probe/collective.hpp"
#include "calibration/probe/copy_route.hpp"
#include "calibration/probe/in_step.hpp"
#include "calibration/probe/kernels/product.hpp"
#include "sim/base/quantiles.hpp"

namespace gradway::probe {
namespace {

constexpr std::size_t mebi = 1 << 20;

/// The larger of two sizes: its collective outlasts several products, so that it shows its own slow-down and
/// not only how products delay it.
std::size_t large_over(const std::string& transport) {
  return (transport == "p2p" ? 1024 : 256) * mebi;
}

constexpr Seconds row_length{25e-3};  // Length of each sequence of calls alone.
constexpr int fewest_calls = 6;       // Limits the weight of the first and last call.
constexpr int most_calls = 300;       // Maximum that a gate can block.

/// The work that runs concurrently with the collective.
struct Neighbour {
  std::function<void(const Stream&)> issue;
  std::function<void(Row&)> describe;  ///< Adds its keys to a row.
  const char* prefix;                  ///< Prefix of the keys of its time and number: gemm, copy.
};

/// Times of one call of each.
struct Pair {
  Seconds neighbour{};
  Seconds collective{};
};
struct Counts {
  int neighbours = 0;
  int collectives = 0;
};

/// One GPU's part of the experiment.
class Experiment {
 public:
  Experiment(Context& context, Communicator& communicator, const Collective& collective,
             const Neighbour& neighbour)
      : context_{&context}, communicator_{&communicator}, collective_{&collective}, neighbour_{&neighbour} {}

  /// Runs two sequences of calls, each of which may be empty. Both begin at the same time on all ranks.
  Pair run(const Counts& counts);
  /// Returns the medians of several runs.
  Pair repeat(const Counts& counts);

 private:
  void issue(const Counts& counts);

  Context* context_;
  Communicator* communicator_;
  const Collective* collective_;
  const Neighbour* neighbour_;
  Stream neighbours_;
  Stream collectives_;
  Gate gate_;
  Event begin_;
  Event neighbours_end_;
  Event collectives_end_;
};

void Experiment::issue(const Counts& counts) {
  gate_.close(collectives_);
  communicator_->align(collectives_);
  begin_.record(collectives_);
  check(cudaStreamWaitEvent(neighbours_.get(), begin_.get(), 0), "starting two streams together");
  // Alternates: both sequences are issued while the gate is closed, and neither queue runs dry.
  for (int i = 0; i < std::max(counts.neighbours, counts.collectives); ++i) {
    if (i < counts.collectives) collective_->issue_out_of_place(collectives_);
    if (i < counts.neighbours) neighbour_->issue(neighbours_);
  }
  collectives_end_.record(collectives_);
  neighbours_end_.record(neighbours_);
}

Pair Experiment::run(const Counts& counts) {
  auto& group = communicator_->group();
  const bool takes_part = communicator_->is_member();
  if (takes_part) issue(counts);
  group.wait_for_all();
  Pair times;
  if (takes_part) {
    gate_.open();
    collectives_.wait();
    neighbours_.wait();
    times.neighbour = between(begin_, neighbours_end_) / std::max(counts.neighbours, 1);
    times.collective = between(begin_, collectives_end_) / std::max(counts.collectives, 1);
  }
  // Products differ per GPU, so their mean is used. A collective ends when its last rank does.
  const auto all = group.gather(times.neighbour.value());
  double sum = 0;
  for (const double time : all) sum += time;
  times.neighbour = Seconds{group.value_of_rank_0(sum / communicator_->members())};
  times.collective = Seconds{group.largest(times.collective.value())};
  return times;
}

Pair Experiment::repeat(const Counts& counts) {
  std::vector<Seconds> neighbours;
  run(counts);  // Warm-up.
  const auto collectives = repeat_in_step(context_->rule, communicator_->group(), [&] {
    const auto times = run(counts);
    neighbours.push_back(times.neighbour);
    return counts.collectives > 0 ? times.collective : times.neighbour;
  });
  return {quantile(neighbours, 0.5), quantile(collectives, 0.5)};
}

int calls_for(Seconds length, Seconds once) {
  return static_cast<int>(std::clamp(std::ceil(length / once), double{fewest_calls}, double{most_calls}));
}

Row number(Seconds time) {
  return measured({}, summary({time}, false))["seconds"];
}

/// Emits two rows: each alone, and both concurrent.
void measure_beside(Context& context, Communicator& communicator, const Collective& collective,
                    const Neighbour& neighbour, const char* op, const std::string& tag) {
  Experiment experiment{context, communicator, collective, neighbour};
  const auto guess_neighbour = experiment.run({fewest_calls, 0});
  const auto guess_collective = experiment.run({0, fewest_calls});
  const auto length = std::max(
      {row_length, fewest_calls * guess_neighbour.neighbour, fewest_calls * guess_collective.collective});
  const Counts counts{calls_for(length, guess_neighbour.neighbour),
                      calls_for(length, guess_collective.collective)};
  const Pair alone{experiment.repeat({counts.neighbours, 0}).neighbour,
                   experiment.repeat({0, counts.collectives}).collective};
  const auto together = experiment.repeat(counts);
  const std::string prefix = neighbour.prefix;
  for (const bool both : {false, true}) {
    const auto& times = both ? together : alone;
    Row row{{"op", op}};
    neighbour.describe(row);
    row["together"] = both;
    row[prefix + "_seconds"] = number(times.neighbour);
    row[prefix + "_reps"] = counts.neighbours;
    row["allreduce_seconds"] = number(times.collective);
    row["allreduce_reps"] = counts.collectives;
    row["bytes"] = collective.bytes();
    row["world"] = communicator.members();
    row["tag"] = tag;
    if (communicator.forced().channels) row["channels"] = *communicator.forced().channels;
    if (context.nodes > 1) row["nodes"] = context.nodes;
    context.emit(row);
  }
}

/// A square matrix product with its operands.
class Square {
 public:
  Square(const Multiplier& multiplier, const Arithmetic& arithmetic, std::int64_t side)
      : name_{fmt::format("{}_{}", arithmetic.name, side)},
        product_{multiplier, arithmetic, {side, side, side}} {
    const auto count = static_cast<std::size_t>(side * side);
    x_ = DeviceBuffer{count * size_of(arithmetic.in)};
    w_ = DeviceBuffer{count * size_of(arithmetic.in)};
    y_ = DeviceBuffer{count * size_of(arithmetic.out)};
    fill_normal(x_, arithmetic.in, count, 1);
    fill_normal(w_, arithmetic.in, count, 2);
    if (!product_.is_supported()) throw Failure{"cublasLt has no product " + name_};
  }
  Neighbour neighbour() const {
    return {[this](const Stream& stream) { product_.issue(x_.get(), w_.get(), y_.get(), stream); },
            [this](Row& row) { row["gemm"] = name_; }, "gemm"};
  }

 private:
  std::string name_;
  Product product_;
  DeviceBuffer x_;
  DeviceBuffer w_;
  DeviceBuffer y_;
};

using Squares = std::vector<std::unique_ptr<Square>>;

/// Square products in bf16 and fp32, as far as supported by the GPU. All have many thread blocks: a product
/// of few blocks may need another whole wave when any multiprocessor is taken, which would dominate the
/// result.
/// @param long_ones products of more than a millisecond, which delay a collective that becomes ready
/// meanwhile; otherwise shorter ones
Squares squares(const Multiplier& multiplier, bool long_ones) {
  Squares all;
  for (const auto& [name, side] :
       {std::pair{"bf16", long_ones ? 8192 : 6144}, {"fp32", long_ones ? 4096 : 3072}}) {
    const auto& arithmetic = arithmetic_named(name);
    if (is_supported(arithmetic)) all.push_back(std::make_unique<Square>(multiplier, arithmetic, side));
  }
  return all;
}

std::vector<std::size_t> sizes(const std::string& transport, bool quick) {
  if (quick) return {large_over(transport)};
  return {32 * mebi, large_over(transport)};
}

}  // namespace

void probe_beside_kernels(Context& context, const std::string& transport) {
  check(cudaSetDevice(context.gpu), "choosing a GPU");
  DeviceBuffer send{large_over(transport)};
  DeviceBuffer receive{large_over(transport)};
  const Multiplier multiplier;
  const auto short_ones = squares(multiplier, false);
  const auto long_ones = context.quick ? Squares{} : squares(multiplier, true);
  double done = 0;
  const auto measure_all = [&](int ranks, const Forced& forced, const std::vector<std::size_t>& all_sizes,
                               std::initializer_list<const Squares*> products) {
    Communicator communicator{*context.group, ranks, forced};
    for (const auto bytes : all_sizes) {
      const Collective collective{Operation::all_reduce, communicator, send, receive, bytes};
      for (const auto* const list : products) {
        for (const auto& product : *list)
          measure_beside(context, communicator, collective, product->neighbour(), "contention", transport);
      }
    }
    context.done(done += context.quick ? 1.0 : 0.2);
  };
  const int everyone = context.group->ranks();
  measure_all(everyone, {}, sizes(transport, context.quick), {&short_ones, &long_ones});
  if (context.quick) return;
  if (everyone > 2 && context.nodes == 1)
    measure_all(2, {}, sizes(transport, false), {&short_ones, &long_ones});
  for (const int channels : {4, 8, 16}) {
    const Forced forced{.algorithm = "", .protocol = "", .channels = channels};
    measure_all(everyone, forced, {large_over(transport)}, {&short_ones});
  }
}

void probe_beside_copies(Context& context, const std::string& transport) {
  check(cudaSetDevice(context.gpu), "choosing a GPU");
  constexpr std::size_t copy_bytes = 64 * mebi;
  DeviceBuffer send{large_over(transport)};
  DeviceBuffer receive{large_over(transport)};
  Communicator communicator{*context.group, context.group->ranks(), {}};
  double done = 0;
  for (const bool to_gpu : {true, false}) {
    const Place gpu{context.gpu};
    const CopyBuffers buffers{to_gpu ? Route{{}, gpu} : Route{gpu, {}}, copy_bytes};
    const Neighbour copies{[&](const Stream& stream) { buffers.copy(stream, copy_bytes); },
                           [&](Row& row) {
                             row["copy"] = to_gpu ? "h2d_pinned" : "d2h_pinned";
                             row["copy_bytes"] = copy_bytes;
                           },
                           "copy"};
    for (const auto bytes : sizes(transport, context.quick)) {
      const Collective collective{Operation::all_reduce, communicator, send, receive, bytes};
      measure_beside(context, communicator, collective, copies, "copy_contention", transport);
    }
    context.done(++done / 2);
  }
}

}  // namespace gradway::probe
