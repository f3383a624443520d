// SPDX-License-Identifier: Apache-2.0
#include "cli/follow.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "observe/watch/report.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class Follower {
 public:
  Follower(const FollowedLog& log, const CommandContext& context) : log_{log}, context_{context} {}

  Status follow() {
    constexpr std::chrono::milliseconds least_pause{200};
    constexpr int share = 10;  // of the time is for reading, however long the log is
    for (auto grown = Clock::now();;) {
      const auto begin = Clock::now();
      if (has_grown()) {
        grown = begin;
        is_silent_ = false;
        read();
      } else if (ends_after(Clock::now() - grown)) {
        return end();
      }
      std::this_thread::sleep_for(std::max<Clock::duration>(least_pause, share * (Clock::now() - begin)));
    }
  }

 private:
  bool has_grown() {
    std::error_code error;
    const auto size = fs::file_size(log_.file, error);
    if (error || size == size_) return false;
    size_ = size;
    return true;
  }

  void read() {
    try {
      steps_ = log_.read();
      run_ = log_.watch(steps_);
      waits_for_.reset();
    } catch (const ConfigError& error) {  // There are few steps at the start.
      const bool is_new = !waits_for_ || waits_for_->problems().front().what != error.problems().front().what;
      if (is_new && steps_.empty())
        context_.messages << fmt::format("waiting: {}\n", error.problems().front().what) << std::flush;
      waits_for_ = error;
      return;
    }
    if (!log_.metrics.empty()) write_metrics_file(log_, steps_, run_);
    announce_findings(false);
  }

  /// Those that are new and do not say that steps became shorter. Where a jump was, and how high, is known
  /// when more steps have come, or when none come any more.
  void announce_findings(bool is_over) {
    constexpr std::size_t enough = 20;  // steps: two of the shortest segments of `watch_steps`
    for (const auto& finding : run_.findings) {
      const bool is_settling = finding.kind == WatchKind::jump && finding.steps < enough && !is_over;
      const bool is_shorter =
          finding.kind != WatchKind::faster_than_expected && finding.after < finding.before;
      if (is_known(finding) || is_settling || is_shorter) continue;
      known_.push_back(finding);
      announce(report::finding_text(steps_, finding));
    }
  }

  /// A jump is found at a slightly other step when more steps have come. Each new stall counts, unless stalls
  /// come at equal distances.
  bool is_known(const WatchFinding& finding) const {
    constexpr std::size_t near = 10;  // steps: the shortest segment of `watch_steps`
    return std::ranges::any_of(known_, [&](const WatchFinding& known) {
      if (known.kind != finding.kind) return false;
      if (finding.kind == WatchKind::random_stalls) return finding.last <= known.last;
      return finding.kind != WatchKind::jump ||
             std::max(finding.first, known.first) < std::min(finding.first, known.first) + near;
    });
  }

  /// Prints it, and hands it to the command of `--alert`.
  void announce(const std::string& text) {
    context_.results << text << std::flush;
    if (log_.alert.empty()) return;
    auto* const pipe = popen(log_.alert.c_str(), "w");
    if (pipe != nullptr) std::fputs(fmt::format("{}: {}", printable(log_.file), text).c_str(), pipe);
    const auto status = pipe == nullptr ? -1 : pclose(pipe);
    if (status != 0)
      context_.messages << fmt::format("'--alert {}' failed\n", printable(log_.alert)) << std::flush;
  }

  /// Says once that nothing comes any more. @return whether that has lasted for `idle`
  bool ends_after(Clock::duration silence) {
    constexpr Seconds shortest{60};
    constexpr double steps = 10;
    const Seconds time{std::chrono::duration<double>(silence).count()};
    const auto longest = log_.idle.value_or(std::max(shortest, steps * run_.median));
    if (time < longest || is_silent_) return false;
    is_silent_ = true;
    if (!steps_.empty()) {
      announce_findings(true);
      announce(
          fmt::format("no step for {}, since step {}\nlikely: a checkpoint, an evaluation, the end of the "
                      "job, or a hang: 'gradway diagnose' reads what hanging jobs leave\n",
                      report::time_text(longest), steps_.back().number));
    }
    return log_.idle.has_value();
  }

  Status end() const {
    if (steps_.empty() && waits_for_) throw *waits_for_;
    if (steps_.empty())
      refuse_at(Where{log_.file, 0, 0, 0, {}}, "no line has come", "check that the job writes this file");
    return status_of_loss(run_.lost_share(), log_.most_lost, context_.messages);
  }

  const FollowedLog& log_;
  const CommandContext& context_;
  std::uintmax_t size_ = 0;
  std::vector<LoggedStep> steps_;
  WatchedRun run_;
  std::vector<WatchFinding> known_;  ///< that were printed
  std::optional<ConfigError> waits_for_;
  bool is_silent_ = false;  ///< no step has come for long, which was printed
};

}  // namespace

void write_metrics_file(const FollowedLog& log, const std::vector<LoggedStep>& steps, const WatchedRun& run) {
  write_file(log.metrics, true, [&](std::ostream& out) { report::write_metrics(out, log.file, steps, run); });
}

Status follow_log(const FollowedLog& log, const CommandContext& context) {
  return Follower{log, context}.follow();
}

}  // namespace gradway::cli
