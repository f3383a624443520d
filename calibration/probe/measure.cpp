// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/measure.hpp"

#include <chrono>

namespace gradway::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds fill{
    1e-3};  // Length of a repetition, of which the resolution of events, 0.5 us, is 0.05 %.
constexpr int most_launches = 500;  // Maximum that a gate can block.
constexpr int warm_ups = 3;

Seconds since(Clock::time_point begin) {
  return Seconds{std::chrono::duration<double>(Clock::now() - begin).count()};
}

}  // namespace

Summary measure(const StoppingRule& rule, const Issue& issue, int launches) {
  const Stream stream;
  Gate gate;
  Event first;
  Event last;
  const auto repetition = [&](int calls) {
    gate.close(stream);
    first.record(stream);
    for (int i = 0; i < calls; ++i) issue(stream);
    last.record(stream);
    gate.open();
    stream.wait();
    return between(first, last) / calls;
  };
  for (int i = 0; i < warm_ups; ++i) issue(stream);
  stream.wait();
  const auto calls = calls_per_repetition(repetition(1), fill, std::max(1, most_launches / launches));
  std::vector<Seconds> samples;
  const auto begin = Clock::now();
  do samples.push_back(repetition(calls));
  while (judge(rule, samples, since(begin)) == Verdict::go_on);
  return concluded(rule, samples);
}

Summary measure_on_cpu(const StoppingRule& rule, int calls, const std::function<void()>& call,
                       const std::function<void()>& settle) {
  call();
  settle();
  std::vector<Seconds> samples;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    samples.push_back(since(start) / calls);
    settle();
  } while (judge(rule, samples, since(begin)) == Verdict::go_on);
  return concluded(rule, samples);
}

}  // namespace gradway::probe
