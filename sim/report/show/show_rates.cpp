// SPDX-License-Identifier: Apache-2.0
#include "sim/report/show/show_rates.hpp"

#include <array>
#include <ostream>

#include <fmt/format.h>

#include "sim/cost/calibration_words.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

namespace words = calibration_words;
using enum Table::Align;

template <class Words, class Enum>
std::string word(const Words& table, Enum value) {
  return std::string{table[static_cast<std::size_t>(value)]};
}

std::string count_or_dash(int count) {
  return count == 0 ? "-" : fmt::format("{}", count);
}

std::string time_or_dash(Seconds time) {
  return time > Seconds{} ? time_text(time) : "-";
}

/// A row of the table of kernels.
void add(Table& rows, std::string label, Seconds base, std::string rate, const std::optional<double>& of_peak,
         const Fitted& fitted) {
  rows.add({std::move(label), time_or_dash(base), std::move(rate), of_peak ? percent_text(*of_peak) : "-",
            count_or_dash(fitted.samples), error_text(fitted.residual)});
}

}  // namespace

std::string error_text(const std::optional<FitError>& error) {
  if (!error) return "-";
  return fmt::format("{:.1f} / {:.1f} %", error->median * 100, error->worst * 100);
}

void write_links(std::ostream& out, const std::vector<LinkRate>& links, const Style& style) {
  if (links.empty()) return;
  Table rows{{{"link", left},
              {"GPUs", right},
              {"from", right},
              {"to", right},
              {"latency", right},
              {"bandwidth", right},
              {"leave-one-out range", right},
              {"samples", right},
              {"residual", right},
              {"source", left}}};
  for (const auto& link : links) {
    rows.add({word(words::links, link.role), fmt::format("{}", link.gpus), exact_bytes_text(link.smallest),
              exact_bytes_text(link.largest), time_or_dash(link.latency), rate_text(link.bandwidth),
              link.least && link.most ? fmt::format("{} to {}", rate_text(*link.least), rate_text(*link.most))
                                      : "-",
              count_or_dash(link.fitted.samples), error_text(link.fitted.residual), link.source});
  }
  out << '\n';
  rows.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

void write_kernels(std::ostream& out, const KernelRates& kernels, const Style& style) {
  if (kernels.empty()) return;
  Table rows{{{"kernels", left},
              {"latency", right},
              {"achieved", right},
              {"of datasheet", right},
              {"samples", right},
              {"residual", right}}};
  for (const auto& rate : kernels.matrix) {
    add(rows,
        fmt::format("{} {} products", word(words::product_shapes, rate.shape),
                    word(words::arithmetics, rate.arithmetic)),
        {}, count_text(rate.rate.value(), "FLOP/s"), rate.of_peak, rate.fitted);
  }
  for (const auto& rate : kernels.memory) {
    add(rows, word(words::memory_kernels, rate.kernel), rate.latency, rate_text(rate.bandwidth), rate.of_peak,
        rate.fitted);
  }
  for (const auto& rate : kernels.optimizers) {
    add(rows, fmt::format("{}, {} tensors", word(words::optimizers, rate.optimizer), rate.tensors),
        rate.floor, rate_text(rate.bandwidth), {}, rate.fitted);
  }
  for (const auto& rate : kernels.attention) {
    add(rows,
        fmt::format("{}{} attention", word(words::arithmetics, rate.arithmetic),
                    rate.causal ? " causal" : ""),
        rate.latency, count_text(rate.rate.value(), "FLOP/s"), rate.of_peak, rate.fitted);
  }
  for (const auto& cost : kernels.launches)
    add(rows, word(words::launch_costs, cost.what), cost.time, "-", {}, cost.fitted);
  if (kernels.smallest_kernel) add(rows, "smallest kernel", *kernels.smallest_kernel, "-", {}, {});
  out << '\n';
  rows.write(out, Style{style.colour, Style::unlimited, Style::unlimited});
}

}  // namespace gradway::report
