// SPDX-License-Identifier: Apache-2.0
#include "sim/graph/workload.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "sim/base/problem.hpp"

namespace gradway {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;  // clang 14 needs it

/// The calls, puts and takes of a program's step by slot.
struct SlotUse {
  explicit SlotUse(const Program& program) {
    for (const auto& task : program.tasks) {
      if (const auto* call = std::get_if<Call>(&task.work)) calls[call->group].push_back(*call);
      if (const auto* put = std::get_if<Put>(&task.work)) ++puts[put->channel];
      if (const auto* take = std::get_if<Take>(&task.work)) ++takes[take->channel];
    }
  }

  std::map<Slot, std::vector<Call>> calls;
  std::map<Slot, int> puts;
  std::map<Slot, int> takes;
};

[[noreturn]] void refuse(const std::string& reason) {
  throw SimulationError{"the workload cannot run: " + reason};
}

void check_program(const Program& program) {
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const auto& task = program.tasks[i];
    if (task.stream.index() >= program.streams.size())
      refuse(fmt::format("task {} of program '{}', '{}', uses a stream that does not exist", i, program.name,
                         task.name));
    for (const auto before : task.after) {
      if (before.index() >= i)
        refuse(fmt::format("task {} of program '{}', '{}', depends on a task that is not issued before it", i,
                           program.name, task.name));
    }
  }
}

std::string describe_call(const std::vector<Call>& calls, std::size_t k) {
  if (k >= calls.size()) return "none";
  return fmt::format("{} of {:.0f} B", name_of(calls[k].kind), calls[k].bytes.value());
}

/// Compares all but the slot, which each program numbers for itself.
bool are_same(const std::vector<Call>& a, const std::vector<Call>& b) {
  return std::ranges::equal(
      a, b, [](const Call& x, const Call& y) { return x.kind == y.kind && x.bytes == y.bytes; });
}

class Check {
 public:
  explicit Check(const Workload& workload) : workload_{workload} {
    for (const auto& program : workload.programs) uses_.emplace_back(program);
  }

  void run() {
    for (const auto& program : workload_.programs) check_program(program);
    if (workload_.ranks < 1 || static_cast<std::size_t>(workload_.ranks) > workload_.actors.size())
      refuse(fmt::format("it has {} ranks, but {} actors", workload_.ranks, workload_.actors.size()));
    for (std::size_t actor = 0; actor < workload_.actors.size(); ++actor) check_slots(actor);
    for (std::size_t group = 0; group < workload_.groups.size(); ++group) check_group(GroupId{group});
    for (std::size_t channel = 0; channel < workload_.channels.size(); ++channel)
      check_channel(ChannelId{channel});
  }

 private:
  std::string name_of_actor(std::size_t actor) const {
    return fmt::format("actor {} ('{}')", actor, workload_.program_of(ActorId{actor}).name);
  }

  const SlotUse& use_of(std::size_t actor) const { return uses_[workload_.actors[actor].program.index()]; }

  void check_slots(std::size_t number) const {
    const auto& actor = workload_.actors[number];
    const auto& use = use_of(number);
    const auto reach = [](const auto& slots) { return slots.empty() ? 0 : slots.rbegin()->first.index + 1; };
    if (reach(use.calls) > actor.groups.size())
      refuse(fmt::format("{} has {} groups, but makes a call on slot {}", name_of_actor(number),
                         actor.groups.size(), reach(use.calls) - 1));
    if (std::max(reach(use.puts), reach(use.takes)) > actor.channels.size())
      refuse(fmt::format("{} has {} channels, but uses slot {}", name_of_actor(number), actor.channels.size(),
                         std::max(reach(use.puts), reach(use.takes)) - 1));
  }

  /// The slot at which an actor has a group.
  Slot slot_of(std::size_t actor, GroupId group) const {
    const auto& groups = workload_.actors[actor].groups;
    const auto place = std::ranges::find(groups, group);
    if (place == groups.end())
      refuse(fmt::format("{} is a member of group '{}', but has no slot for it", name_of_actor(actor),
                         workload_.groups[group.index()].name));
    return {static_cast<std::uint32_t>(place - groups.begin())};
  }

  const std::vector<Call>& calls_on(std::size_t actor, GroupId group) const {
    static const std::vector<Call> none;
    const auto& calls = use_of(actor).calls;
    const auto entry = calls.find(slot_of(actor, group));
    return entry == calls.end() ? none : entry->second;
  }

  void check_group(GroupId id) const {
    const auto& group = workload_.groups[id.index()];
    if (group.members.empty()) refuse(fmt::format("group '{}' has no members", group.name));
    const auto first = group.members.front().index();
    const auto& expected = calls_on(first, id);
    std::map<const std::vector<Call>*, bool> known;  // most members share a program
    for (const auto member : group.members) {
      const auto& calls = calls_on(member.index(), id);
      const auto [same, is_new] = known.try_emplace(&calls, true);
      if (is_new) same->second = are_same(expected, calls);
      if (same->second) continue;
      std::size_t k = 0;
      while (describe_call(expected, k) == describe_call(calls, k)) ++k;
      refuse(fmt::format("call {} on group '{}' is {} in {}, but {} in {}", k, group.name,
                         describe_call(expected, k), name_of_actor(first), describe_call(calls, k),
                         name_of_actor(member.index())));
    }
  }

  int count(const std::map<Slot, int>& uses, std::size_t actor, ChannelId channel) const {
    const auto& channels = workload_.actors[actor].channels;
    int sum = 0;
    for (const auto& [slot, times] : uses) sum += channels[slot.index] == channel ? times : 0;
    return sum;
  }

  void check_channel(ChannelId id) const {
    const auto& channel = workload_.channels[id.index()];
    if (channel.depth < 1) refuse(fmt::format("channel {} has depth {}", id.index(), channel.depth));
    const auto puts = count(use_of(channel.from.index()).puts, channel.from.index(), id);
    const auto takes = count(use_of(channel.to.index()).takes, channel.to.index(), id);
    if (puts != takes)
      refuse(fmt::format("{} puts {} items per step into channel {}, but {} takes {}",
                         name_of_actor(channel.from.index()), puts, id.index(),
                         name_of_actor(channel.to.index()), takes));
  }

  const Workload& workload_;
  std::vector<SlotUse> uses_;  ///< by program
};

}  // namespace

std::string_view kind_of(const TaskWork& work) {
  constexpr std::array<std::string_view, std::variant_size_v<TaskWork>> names{
      "kernel", "copy", "collective", "CPU", "put", "take", "host", "read", "decoder"};
  return names[work.index()];
}

Bytes bytes_of(const TaskWork& work) {
  return std::visit(
      Overloaded{[](const Copy& copy) { return copy.bytes; }, [](const Call& call) { return call.bytes; },
                 [](const Read& read) { return read.bytes; }, [](const auto&) { return Bytes{}; }},
      work);
}

Activity activity_of(const TaskWork& work) {
  return std::visit(
      Overloaded{[](const Kernel&) { return Activity::kernel; }, [](const Copy&) { return Activity::copy; },
                 [](const Call&) { return Activity::collective; }, [](const Read&) { return Activity::load; },
                 [](const HostWork&) { return Activity::load; },
                 [](const DecoderWork&) { return Activity::load; },
                 [](const auto&) { return Activity::launch; }},
      work);
}

void check(const Workload& workload) {
  Check{workload}.run();
}

}  // namespace gradway
