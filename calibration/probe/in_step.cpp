// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/in_step.hpp"

#include <chrono>

namespace gradway::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds fill{
    2e-3};  // Length of a repetition, of which a skew of a few microseconds between ranks is 0.2 %.
constexpr int warm_ups = 2;

}  // namespace

std::vector<Seconds> repeat_in_step(const StoppingRule& rule, Group& group,
                                    const std::function<Seconds()>& round) {
  std::vector<Seconds> samples;
  const auto begin = Clock::now();
  while (true) {
    samples.push_back(round());
    const Seconds elapsed{std::chrono::duration<double>(Clock::now() - begin).count()};
    const bool go_on = judge(rule, samples, elapsed) == Verdict::go_on;
    if (group.value_of_rank_0(go_on ? 1 : 0) == 0) return samples;
  }
}

Summary measure_in_step(const StoppingRule& rule, Communicator& communicator, const Repeated& repeated,
                        int most_calls) {
  auto& group = communicator.group();
  const Stream stream;
  Gate gate;
  Event first;
  Event last;
  const auto repetition = [&](int calls) {
    Seconds time{};
    if (communicator.is_member()) {
      repeated.prepare(stream);
      gate.close(stream);
      communicator.align(stream);
      first.record(stream);
      for (int i = 0; i < calls; ++i) repeated.call(stream);
      last.record(stream);
    }
    group.wait_for_all();
    if (communicator.is_member()) {
      gate.open();
      stream.wait();
      time = between(first, last) / calls;
    }
    return Seconds{group.largest(time.value())};
  };
  Seconds once{};
  // The first calls connect the ranks and wait on the CPU, so they run without a gate.
  if (communicator.is_member()) {
    communicator.align(stream);
    repeated.prepare(stream);
    for (int i = 0; i < warm_ups; ++i) repeated.call(stream);
    stream.wait();
  }
  for (int i = 0; i < warm_ups; ++i) once = repetition(1);
  const auto calls = calls_per_repetition(once, fill, most_calls);
  return concluded(rule, repeat_in_step(rule, group, [&] { return repetition(calls); }));
}

}  // namespace gradway::probe
