// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/collectives.hpp"

#include <array>

#include "calibration/harness/sizes.hpp"
#include "calibration/probe/collective.hpp"
#include "calibration/probe/in_step.hpp"

namespace gradway::probe {
namespace {

constexpr std::size_t kibi = 1 << 10;
constexpr std::size_t mebi = 1 << 20;
constexpr std::array other_operations{Operation::all_gather, Operation::reduce_scatter, Operation::broadcast,
                                      Operation::all_to_all, Operation::send_recv};

/// NCCL changes algorithm and protocol at certain sizes; with a factor of two between sizes little is missed.
/// Two scales of a known curve need fewer: some sizes bound by latency, and some by bandwidth.
std::vector<std::size_t> sizes(const Context& context, Operation operation, std::size_t largest) {
  const bool reduces = operation == Operation::all_reduce;
  if (context.adapt) return powers(reduces ? 16 * kibi : mebi, reduces ? largest : 64 * mebi, 8);
  return powers(reduces ? kibi : 16 * kibi, largest, context.quick ? 8 : 2);
}

/// Two buffers for the largest collective.
struct Room {
  explicit Room(std::size_t bytes) : send{bytes}, receive{bytes} {}
  DeviceBuffer send;
  DeviceBuffer receive;
};

void measure_one(Context& context, Communicator& communicator, Room& room, Operation operation,
                 std::size_t bytes, const std::string& tag) {
  const Collective collective{operation, communicator, room.send, room.receive, bytes};
  // A wrong result ends the job on all ranks: the others lose their connection.
  if (communicator.is_member()) {
    const Stream stream;
    collective.verify(stream);
  }
  const auto time = measure_in_step(context.rule, communicator,
                                    {[&](const Stream& stream) { collective.prepare(stream); },
                                     [&](const Stream& stream) { collective.issue(stream); }},
                                    collective.most_calls());
  Row row{{"op", name_of(operation)},
          {"bytes", collective.bytes()},
          {"world", communicator.members()},
          {"tag", tag}};
  if (communicator.forced().channels) row["channels"] = *communicator.forced().channels;
  if (context.nodes > 1) row["nodes"] = context.nodes;
  row["verified"] = true;
  context.emit(measured(std::move(row), time));
}

/// Beyond this size, the minimum repetitions of the rule would take too long.
std::size_t largest_over(const std::string& transport, const Context& context) {
  if (context.adapt) return (transport == "net" ? 64 : 256) * mebi;
  const bool is_fast = transport == "p2p" || (transport == "shm" && !context.quick);
  return is_fast ? 1024 * mebi : 256 * mebi;
}

}  // namespace

void probe_collectives(Context& context, const std::string& transport) {
  check(cudaSetDevice(context.gpu), "choosing a GPU");
  const auto largest = largest_over(transport, context);
  Room room{largest};
  auto counts = rank_counts(context.group->ranks());
  if ((context.quick && !context.adapt) || context.nodes > 1) counts = {context.group->ranks()};
  double done = 0;
  for (const int ranks : counts) {
    const bool all = ranks == counts.back();
    Communicator communicator{*context.group, ranks, {}};
    for (const auto bytes : sizes(context, Operation::all_reduce, largest))
      measure_one(context, communicator, room, Operation::all_reduce, bytes, transport);
    if (transport == "net" && context.nodes == 1) {
      context.done(++done / static_cast<double>(counts.size()));
      continue;  // TCP inside a node only represents a network: DDP's own collective is enough.
    }
    for (const auto operation : other_operations) {
      if (!all && (ranks != 2 || transport != "p2p" || context.adapt)) continue;
      for (const auto bytes : sizes(context, operation, largest))
        measure_one(context, communicator, room, operation, bytes, transport);
    }
    context.done(++done / static_cast<double>(counts.size()));
  }
}

void probe_forced(Context& context, const std::string& transport) {
  check(cudaSetDevice(context.gpu), "choosing a GPU");
  constexpr std::size_t largest = 256 * mebi;
  // A protocol for small buffers: half of the bytes it moves are flags.
  constexpr std::size_t largest_ll = 64 * mebi;
  Room room{largest};
  double done = 0;
  for (const char* algorithm : {"Ring", "Tree"}) {
    for (const std::string protocol : {"LL", "LL128", "Simple"}) {
      Communicator communicator{*context.group, context.group->ranks(), {algorithm, protocol, {}}};
      for (const auto bytes : powers(kibi, protocol == "LL" ? largest_ll : largest, context.quick ? 16 : 2))
        measure_one(context, communicator, room, Operation::all_reduce, bytes,
                    transport + "-" + algorithm + "-" + protocol);
      context.done(++done / 6);
    }
  }
}

}  // namespace gradway::probe
