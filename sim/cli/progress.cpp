// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/progress.hpp"

#include <fmt/format.h>

namespace gradway::cli {
namespace {

constexpr std::size_t bar_width = 30;

}  // namespace

Progress::Progress(const Surroundings& around, std::string what, std::size_t count)
    : around_{around}, what_{std::move(what)}, count_{count} {}

Progress::~Progress() {
  if (around_.shows_progress && done_ > 0) around_.messages << "\r\x1b[K" << std::flush;
}

void Progress::step() {
  const std::scoped_lock lock{mutex_};
  ++done_;
  if (!around_.shows_progress) return;
  const auto filled = bar_width * done_ / count_;
  around_.messages << fmt::format("\r[{:<{}}] {} {} of {}", std::string(filled, '='), bar_width, what_, done_,
                                  count_)
                   << std::flush;
}

}  // namespace gradway::cli
