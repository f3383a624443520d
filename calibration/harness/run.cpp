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
  if (options.adapt) rule.limit = Seconds{0.15};  // few rows, on which much rests
  return rule;
}

bool is_wanted(const Job& job, const Options& options) {
  const bool is_always = job.section == "instrument";
  return is_always || options.only.empty() ||
         std::ranges::find(options.only, job.section) != options.only.end();
}

/// The rows of a run and the file that they go to.
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

/// Runs the job that says what the node is. @return the number of its GPUs; 0 if that failed, and `samples`
/// then says why
int learn_node(const Program& program, Surrounding surrounding, const Options& options, Samples& samples) {
  int gpus = 0;
  surrounding.context.gpus = options.gpus;
  run_job(program.facts, surrounding,
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

void measure(const Program& program, const std::vector<Job>& jobs, Surrounding surrounding,
             Samples& samples) {
  std::vector<Seconds> estimates;
  for (const auto& job : jobs) estimates.push_back(job.estimate);
  const bool writes = !surrounding.world || surrounding.world->rank == 0;
  Progress progress{*program.messages, program.terminal, Forecast{estimates}, jobs.size()};
  for (std::size_t i = 0; i < jobs.size() && !*program.interrupted; ++i) {
    surrounding.number = static_cast<int>(i);
    if (!jobs[i].all_ranks && !writes) continue;
    if (writes) progress.begin(i, jobs[i].name);
    run_job(jobs[i], surrounding,
            {[&](const Row& row) {
               samples.add(row);
               const auto kind = row.value("kind", "");
               if (kind == "failed" || kind == "note") progress.say(row_text(row));
             },
             [&](double part) { progress.done(part); }});
    if (writes) samples.write();
  }
}

/// Says what became of the run. @return how the program ends
Status conclude(const Program& program, const Samples& samples, bool adapts) {
  auto& out = *program.messages;
  const auto failed = samples.count("failed");
  if (const auto noisy = samples.noisy(); noisy > 0)
    out << fmt::format("{} of {} measurements did not settle: does anything else run on this node?\n", noisy,
                       samples.measured());
  out << fmt::format("{} measurements are in {}\n", samples.measured(), samples.file().string());
  if (*program.interrupted) {
    out << "interrupted: what was measured until then is kept\n";
    return Status::interrupted;
  }
  if (failed > 0) {
    out << fmt::format("{} failed; the file says which and why ('failed'), the other rows are sound\n",
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
    return refuse(program, fmt::format("'{}' is there already: give another name with -o, or --force",
                                       options.out.string()));
  for (const auto& line : program.libraries(options.libraries)) {
    if (writes) *program.messages << line << '\n';
  }
  Samples samples{options.out};
  Surrounding surrounding{.context = {}, .world = world, .number = 0, .interrupted = program.interrupted};
  surrounding.context.rule = rule_of(options);
  surrounding.context.quick = options.quick || options.adapt;
  surrounding.context.adapt = options.adapt;
  surrounding.context.nodes = world ? world->nodes() : 1;
  if (writes) {
    surrounding.context.gpus = learn_node(program, surrounding, options, samples);
    if (surrounding.context.gpus == 0) {
      return refuse(program, samples.rows().empty() ? "the GPUs do not answer"
                                                    : samples.rows().back().value("what", ""));
    }
    samples.write();  // a place that cannot be written to is known before minutes of measuring
  }
  if (world) surrounding.context.gpus = world->local_ranks;
  std::vector<Job> jobs = program.jobs(surrounding.context.gpus, surrounding.context.nodes, options);
  std::erase_if(jobs, [&](const Job& job) { return !is_wanted(job, options); });
  measure(program, jobs, surrounding, samples);
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
