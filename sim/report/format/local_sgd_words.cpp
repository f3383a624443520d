// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/words.hpp"

#include <fmt/format.h>

#include "sim/report/format/text.hpp"
#include "sim/report/format/training_text.hpp"

namespace gradway::report {
namespace {

/// Duration of an exchange: milliseconds to days.
std::string short_or_long(Seconds time) {
  return time < Seconds{120} ? time_text(time) : span_text(time);
}

std::string numbers_in_words(const LocalSgd& settings) {
  return fmt::format("{}{}", name_of(settings.exchanged),
                     settings.top_k < 1 ? fmt::format(", the largest {}", percent_text(settings.top_k)) : "");
}

}  // namespace

std::string describe(const LocalSgd& settings) {
  if (settings.clients)
    return fmt::format("local SGD: {} clients, {} updates per round, each after {}, sent in {}",
                       thousands_text(settings.workers), thousands_text(settings.clients->target),
                       counted_text(settings.inner_steps, "step"), numbers_in_words(settings));
  return fmt::format("local SGD: {} workers, {}, exchange every {} in {}{}{}",
                     thousands_text(settings.workers), name_of(settings.outer),
                     counted_text(settings.inner_steps, "step"), numbers_in_words(settings),
                     settings.fragments > 1 ? fmt::format(", {} fragments in turn", settings.fragments) : "",
                     settings.overlap_steps > 0
                         ? fmt::format(", overlapped with {}", counted_text(settings.overlap_steps, "step"))
                         : "");
}

std::string describe(const OuterLoop& loop, const LocalSgd& settings) {
  const auto overlapped = loop.pause < loop.exchange ? fmt::format(" ({} of it overlapped with steps)",
                                                                   short_or_long(loop.exchange - loop.pause))
                                                     : "";
  return fmt::format("{} workers; every {} ({}) each sends {}{} in {}{}; they compute {} of the time",
                     thousands_text(settings.workers), counted_text(loop.steps, "step"),
                     short_or_long(loop.inner), bytes_text(loop.sent),
                     loop.fragments > 1 ? fmt::format(", in {} turns, each", loop.fragments) : ",",
                     short_or_long(loop.exchange), overlapped, percent_text(loop.use()));
}

std::vector<std::string> clients_in_words(const LocalSgd& settings, const std::vector<ClientTurn>& turns) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto& client_class = settings.clients->classes[i];
    words.push_back(fmt::format("{} {}: the model in {}, {} in {}, the update in {}",
                                thousands_text(client_class.count), client_class.name,
                                short_or_long(turns[i].down), counted_text(settings.inner_steps, "step"),
                                short_or_long(turns[i].compute), short_or_long(turns[i].up)));
  }
  return words;
}

}  // namespace gradway::report
