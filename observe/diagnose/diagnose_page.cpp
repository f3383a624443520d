// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "observe/diagnose/cause_words.hpp"
#include "observe/diagnose/report.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

constexpr std::string_view head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>gradway diagnose</title><style>
body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse}
td,th{padding:.15rem .9rem .15rem 0;text-align:right;font-variant-numeric:tabular-nums}
td:first-child,th:first-child{text-align:left}th{font-weight:600;border-bottom:1px solid #999}
.cause{border-left:4px solid #b35900;padding:.1rem 0 .1rem .8rem;margin:.8rem 0}.try{color:#444}
svg{width:100%;height:auto}svg text{font-size:11px;fill:#1b1f24}.key span{display:inline-block;width:1em;height:1em;
vertical-align:-2px;margin:0 .3em 0 1em}
</style></head><body>
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

class Page {
 public:
  Page(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis, const Diagnosis& diagnosis)
      : out_{out}, run_{run}, basis_{basis}, diagnosis_{diagnosis} {}

  void write(const std::vector<DiagnosisSection>& sections) {
    out_ << head << "<h1>" << escaped(verdict_text(run_, basis_, diagnosis_)) << "</h1>\n";
    const auto& first = run_.ranks.front();
    out_ << fmt::format(
        "<p>{} of {}, {}. Compared with {}{}.</p>\n", counted_text(run_.ranks.size(), "trace"),
        counted_text(static_cast<std::int64_t>(run_.world), "rank"),
        escaped(first.gpu + ", " + training_text(run_, diagnosis_)), escaped(basis_.platform_name),
        basis_.is_platform_assumed ? ", which is assumed for this GPU" : "");
    write_steps();
    for (const auto* list : {&diagnosis_.causes, &diagnosis_.possible}) {
      for (const auto& cause : *list) write_cause(cause);
    }
    write_time_lines();
    write_classes();
    write_collectives();
    for (const auto& section : sections)
      out_ << "<h2>" << escaped(section.title) << "</h2>\n<pre>" << escaped(section.text) << "</pre>\n";
    out_ << "</body></html>\n";
  }

 private:
  void write_steps() {
    out_ << "<table><tr><th>step</th><th>time</th></tr>\n";
    const auto row = [&](std::string_view name, Seconds time) {
      out_ << fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name, time_text(time));
    };
    row("under the profiler", diagnosis_.traced);
    row(diagnosis_.measured == diagnosis_.replayed ? "without the profiler, replayed" : "measured",
        diagnosis_.measured);
    row("expected without what was found", diagnosis_.expected);
    if (const auto& elsewhere = diagnosis_.elsewhere)
      row(fmt::format("expected on {}", escaped(elsewhere->platform)), elsewhere->step);
    if (basis_.step)
      out_ << fmt::format("<tr><td>predicted (90 % prediction interval)</td><td>{} ({})</td></tr>\n",
                          time_text(basis_.step->time), range_text(basis_.step->low, basis_.step->high));
    out_ << "</table>\n";
  }

  void write_cause(const RunCause& cause) {
    std::string title{key_of(cause.kind)};
    std::ranges::replace(title, '_', ' ');
    out_ << fmt::format(
        "<div class=\"cause\"><b>{}: {} {}</b> ({} confidence)<br>{}<br><span class=\"try\">Try: "
        "{}</span></div>\n",
        time_text(cause.lost), title, ranks_text(cause, static_cast<int>(run_.ranks.size())),
        name_of(cause.confidence), escaped(cause_text(cause, basis_.platform_name)),
        escaped(remedy_text(cause)));
  }

  /// What the GPUs of the first ranks do in the traced steps: as measured above, as expected below.
  void write_time_lines() {
    constexpr std::size_t most = 8;
    constexpr double width = 1000;
    constexpr double margin = 110;
    constexpr double height = 16;
    const auto ranks = std::min(most, diagnosis_.replayed_work.size());
    const auto total = std::max(diagnosis_.replayed, diagnosis_.expected) * static_cast<double>(run_.steps);
    out_ << "<h2>What the GPUs do, without the profiler</h2>\n<p class=\"key\"><span "
            "style=\"background:#2f6fb0\">"
            "</span>kernels and copies<span style=\"background:#7f5fa8\"></span>kernels during "
            "collectives<span "
            "style=\"background:#d98e2b\"></span>collectives alone<span "
            "style=\"background:#e4e4e4\"></span>idle</p>\n";
    out_ << fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"time lines of the GPUs\">\n",
                        width + margin, static_cast<double>(ranks) * (2 * height + 10) + 20);
    double y = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto line = [&](const std::vector<Interval>& work, std::string_view name, Seconds step) {
        out_ << fmt::format("<text x=\"0\" y=\"{:.0f}\">rank {} {}</text>\n", y + height - 4,
                            run_.ranks[r].rank, name);
        write_work(work, step * static_cast<double>(run_.steps), (width - 1) / total.value(), margin, y,
                   height - 2);
        y += height;
      };
      line(diagnosis_.replayed_work[r], "measured", diagnosis_.replayed);
      line(diagnosis_.expected_work[r], "expected", diagnosis_.expected);
      y += 10;
    }
    out_ << fmt::format(
        "<text x=\"{:.0f}\" y=\"{:.0f}\">0</text><text x=\"{:.0f}\" y=\"{:.0f}\" "
        "text-anchor=\"end\">{} ({})</text>\n</svg>\n",
        margin, y + 8, margin + width - 1, y + 8, time_text(total), counted_text(run_.steps, "step"));
  }

  /// Pieces of a pixel or more; each pixel has the kinds of work that run in most of it.
  void write_work(const std::vector<Interval>& work, Seconds end, double scale, double margin, double y,
                  double height) {
    const auto pixels = static_cast<std::size_t>(end.value() * scale);
    std::vector<std::array<double, replayed_work_kinds>> shares(pixels + 1);
    for (const auto& interval : work) {
      const auto to = interval.end.value() * scale;
      for (auto from = interval.start.value() * scale;
           from < to && from < static_cast<double>(shares.size());) {
        const auto pixel = std::floor(from);
        const auto next = std::min(to, pixel + 1);
        shares[static_cast<std::size_t>(pixel)][static_cast<std::size_t>(interval.kind)] += next - from;
        from = next;
      }
    }
    constexpr std::array<std::string_view, 4> colours{"#e4e4e4", "#2f6fb0", "#d98e2b", "#7f5fa8"};
    constexpr double most = 0.5;
    const auto colour_of = [&](std::size_t pixel) {
      const auto& [kernels, collectives] = shares[pixel];
      return colours[(kernels >= most ? 1U : 0U) + (collectives >= most ? 2U : 0U)];
    };
    for (std::size_t begin = 0; begin < pixels;) {
      auto next = begin + 1;
      while (next < pixels && colour_of(next) == colour_of(begin)) ++next;
      out_ << fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{}\" height=\"{:.0f}\" fill=\"{}\"/>\n",
                          margin + static_cast<double>(begin), y, next - begin, height, colour_of(begin));
      begin = next;
    }
  }

  void write_classes() {
    out_ << "<h2>Work per step</h2>\n<table><tr><th>work</th><th>measured</th><th>expected</th></tr>\n";
    for (const auto& work_class : diagnosis_.classes)
      out_ << fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", name_of(work_class.work),
                          time_text(work_class.measured), time_text(work_class.expected));
    out_ << "</table>\n";
  }

  void write_collectives() {
    if (diagnosis_.collectives.empty()) return;
    out_ << "<h2>Collectives</h2>\n<table><tr><th>collective</th><th>size</th><th>per step</th><th>waiting "
            "for "
            "ranks</th><th>transfer</th><th>predicted alone</th></tr>\n";
    for (const auto& collective : diagnosis_.collectives)
      out_ << fmt::format(
          "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
          name_of(collective.kind), collective.bytes > Bytes{} ? bytes_text(collective.bytes) : "unknown",
          digits_text(collective.per_step, 3), time_text(collective.waiting), time_text(collective.transfer),
          collective.expected ? time_text(*collective.expected) : "unknown");
    out_ << "</table>\n";
  }

  std::ostream& out_;
  const JobRun& run_;
  const DiagnosisBasis& basis_;
  const Diagnosis& diagnosis_;
};

}  // namespace

void write_page(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis, const Diagnosis& diagnosis,
                const std::vector<DiagnosisSection>& sections) {
  Page{out, run, basis, diagnosis}.write(sections);
}

}  // namespace gradway::report
