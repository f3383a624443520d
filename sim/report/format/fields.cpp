// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/fields.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t label_width = 15;  // two blanks, the label, a gap
constexpr std::size_t narrowest_value = 20;

}  // namespace

void Fields::add(std::string_view label, std::string_view text, Paint paint) {
  write(label, "", text, paint);
}

void Fields::write(std::string_view label, std::string_view bullet, std::string_view text, Paint paint) {
  const auto room =
      std::max(style_.width, label_width + bullet.size() + narrowest_value) - label_width - bullet.size();
  const std::string under_bullet(bullet.size(), ' ');
  for (const auto& line : wrap(text, room)) {
    const auto head = fmt::format("  {:<{}}{}", label, label_width - 2, bullet);
    out_ << style_.paint(Paint::dim, head) << style_.paint(paint, line) << '\n';
    label = "";
    bullet = under_bullet;
  }
}

void Fields::add(std::string_view label, const std::vector<std::string>& items, Paint paint) {
  for (const auto& item : items) {
    write(label, items.size() > 1 ? "- " : "", item, paint);
    label = "";
  }
}

}  // namespace gradway::report
