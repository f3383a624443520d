// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/run.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "calibration/harness/progress.hpp"
#include "calibration/harness/sample_file.hpp"

namespace gradway::probe {
namespace {

StoppingRule rule_of(const Options& options) {
  StoppingRule rule;
  if (options.quick) rule.limit = Seconds{0.05};
  if (options.adapt) rule.limit = Seconds{0.15};  // Few rows, which must be accurate.
  return rule;
}

bool is_wanted(const Job& job, const Options& options) {
  const bool is_always = job.section == "instrument";
  return is_always || options.only.empty() ||
         std::ranges::find(options.only, job.section) != options.only.end();
}

/// The rows of a run and their file.
class Samples {
 public:
  explicit Samples(std::filesystem::path file) : file_{std::move(file)} {}
  void add(const Row& row) { rows_.push_back(row); }
  void write() const { write_samples(file_, rows_); }
  const std::vector<Row>& rows() const { return rows_; }
  const std::filesystem::path& file() const { return file_; }
  std::ptrdiff_t count(const std::string& kind) const {
    return std::ranges::count_if(rows_, [&](const Row& row) { return row.value("kind", "") == kind; });
  }
  std::ptrdiff_t measured() const {
    return std::ranges::count_if(
        rows_, [](const Row& row) { return row.contains("seconds") || row.contains("together"); });
  }
  std::ptrdiff_t noisy() const {
    return std::ranges::count_if(rows_, [](const Row& row) { return row.value("noisy", false); });
  }

 private:
  std::filesystem::path file_;
  std::vector<Row> rows_;
};

Status refuse(const Program& program, const std::string& what) {
  *program.messages << "gradway-probe: " << what << '\n';
  return Status::wrong_input;
}

/// Runs the job that describes the node. @return the number of its GPUs; 0 if that failed, with the reason in
/// `samples`
int describe_node(const Program& program, RunSettings run_settings, const Options& options,
                  Samples& samples) {
  int gpus = 0;
  run_settings.context.gpus = options.gpus;
  run_job(program.facts, run_settings,
          {[&](const Row& row) {
             samples.add(row);
             if (row.value("kind", "") == "node") gpus = static_cast<int>(row.at("gpus").size());
           },
           [](double) {}});
  return gpus;
}

std::string row_text(const Row& row) {
  return fmt::format("{}: {}", row.value("section", ""), row.value("what", ""));
}

void measure(const Program& program, const std::vector<Job>& jobs, RunSettings run_settings,
             Samples& samples) {
  std::vector<Seconds> estimates;
  for (const auto& job : jobs) estimates.push_back(job.estimate);
  const bool writes = !run_settings.world || run_settings.world->rank == 0;
  Progress progress{*program.messages, program.terminal, Forecast{estimates}, jobs.size()};
  for (std::size_t i = 0; i < jobs.size() && !*program.interrupted; ++i) {
    run_settings.number = static_cast<int>(i);
    if (!jobs[i].all_ranks && !writes) continue;
    if (writes) progress.begin(i, jobs[i].name);
    run_job(jobs[i], run_settings,
            {[&](const Row& row) {
               samples.add(row);
               const auto kind = row.value("kind", "");
               if (kind == "failed" || kind == "note") progress.say(row_text(row));
             },
             [&](double part) { progress.done(part); }});
    if (writes) samples.write();
  }
}

/// Prints the outcome of the run. @return the exit status
Status conclude(const Program& program, const Samples& samples, bool adapts) {
  auto& out = *program.messages;
  const auto failed = samples.count("failed");
  if (const auto noisy = samples.noisy(); noisy > 0)
    out << fmt::format("{} of {} measurements did not converge: check that nothing else runs on this node\n",
                       noisy, samples.measured());
  out << fmt::format("wrote {} measurements to {}\n", samples.measured(), samples.file().string());
  if (*program.interrupted) {
    out << "interrupted: earlier measurements are kept\n";
    return Status::interrupted;
  }
  if (failed > 0) {
    out << fmt::format(
        "{} failed; see the rows 'failed' of the file for the reasons. The other rows are valid\n",
        failed == 1 ? "one probe" : fmt::format("{} probes", failed));
    return Status::incomplete;
  }
  if (adapts) {
    out << fmt::format("next: gradway calibrate adapt CALIBRATION {} -o calibration.yaml\n",
                       samples.file().string());
    return Status::done;
  }
  out << fmt::format(
      "next: gradway calibrate fit {0} -o calibration.yaml\n"
      "      gradway import probe {0} -o platform.yaml\n",
      samples.file().string());
  return Status::done;
}

Status run(const Program& program, const Options& options) {
  const auto world = read_world(std::getenv);
  const bool writes = !world || world->rank == 0;
  if (std::error_code error; writes && !options.force && std::filesystem::exists(options.out, error))
    return refuse(program, fmt::format("'{}' exists already: give another name with -o, or add --force",
                                       options.out.string()));
  for (const auto& line : program.libraries(options.libraries)) {
    if (writes) *program.messages << line << '\n';
  }
  Samples samples{options.out};
  RunSettings run_settings{.context = {}, .world = world, .number = 0, .interrupted = program.interrupted};
  run_settings.context.rule = rule_of(options);
  run_settings.context.quick = options.quick || options.adapt;
  run_settings.context.adapt = options.adapt;
  run_settings.context.nodes = world ? world->nodes() : 1;
  if (writes) {
    run_settings.context.gpus = describe_node(program, run_settings, options, samples);
    if (run_settings.context.gpus == 0) {
      return refuse(program, samples.rows().empty() ? "the GPUs do not answer"
                                                    : samples.rows().back().value("what", ""));
    }
    samples.write();  // Detects a file that cannot be written before minutes of measuring.
  }
  if (world) run_settings.context.gpus = world->local_ranks;
  std::vector<Job> jobs = program.jobs(run_settings.context.gpus, run_settings.context.nodes, options);
  std::erase_if(jobs, [&](const Job& job) { return !is_wanted(job, options); });
  measure(program, jobs, run_settings, samples);
  if (!writes)
    return *program.interrupted          ? Status::interrupted
           : samples.count("failed") > 0 ? Status::incomplete
                                         : Status::done;
  return conclude(program, samples, options.adapt);
}

}  // namespace

Status run_program(const Program& program, int count, char** arguments) {
  const auto [options, status] =
      read_options(count, arguments, program.version, *program.results, *program.messages);
  if (!options) return status;
  try {
    return run(program, *options);
  } catch (const std::invalid_argument& error) {
    return refuse(program, error.what());
  } catch (const std::runtime_error& error) {
    return refuse(program, error.what());
  }
}

}  // namespace gradway::probe
