// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "readers/describe/platform_draft.hpp"
#include "readers/fit/yaml_text.hpp"
#include "sim/platform/description.hpp"

namespace gradway {
namespace {

/// Splits "gpu12" into "gpu" and 12; a name without a plain number at its end into itself and nothing.
std::pair<std::string_view, std::optional<int>> split(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789") + 1;
  int number = 0;
  const auto [last, error] = std::from_chars(name.data() + end, name.data() + name.size(), number);
  const bool is_padded = name.size() - end > 1 && name[end] == '0';
  if (error != std::errc{} || end == 0 || is_padded) return {name, std::nullopt};
  return {name.substr(0, end), number};
}

bool follows(std::string_view name, std::string_view before) {
  const auto [start, number] = split(name);
  const auto [start_before, number_before] = split(before);
  return number && number_before && start == start_before && *number == *number_before + 1;
}

/// A name, or the pattern for the names from the first to the last.
std::string pattern(const std::string& first, const std::string& last) {
  if (first == last) return first;
  return fmt::format("\"{}[{}-{}]\"", split(first).first, *split(first).second, *split(last).second);
}

/// The names of a list of parts, with ranges as patterns.
std::string patterns(const std::vector<std::string>& names) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < names.size();) {
    auto end = i + 1;
    while (end < names.size() && follows(names[end], names[end - 1])) ++end;
    ranges.push_back(pattern(names[i], names[end - 1]));
    i = end;
  }
  return fmt::format("[{}]", fmt::join(ranges, ", "));
}

/// One end of a range of links: either always the same part, or each time the next one.
struct End {
  std::string first;
  std::string last;
  bool moves = false;

  bool accepts(const std::string& name, bool is_second) const {
    return (name == first && (is_second || !moves)) || (follows(name, last) && (is_second || moves));
  }
  void append(const std::string& name) {
    moves = name != first;
    last = name;
  }
};

std::string link_line(const NodeLink& link, const End& from, const End& to) {
  const auto forward = platform_rate(link.forward);
  const auto backward = platform_rate(link.backward);
  const auto rates = forward == backward
                         ? fmt::format("bandwidth: {}", forward)
                         : fmt::format("bandwidth_forward: {}, bandwidth_backward: {}", forward, backward);
  const auto count = link.kind == LinkKind::nvlink ? fmt::format(", count: {}", link.count) : std::string{};
  return fmt::format("    - {{ from: {}, to: {}, kind: {}, {}{} }}\n", pattern(from.first, from.last),
                     pattern(to.first, to.last), link_words[static_cast<std::size_t>(link.kind)], rates,
                     count);
}

bool are_equal(const NodeLink& first, const NodeLink& second) {
  return first.kind == second.kind && platform_rate(first.forward) == platform_rate(second.forward) &&
         platform_rate(first.backward) == platform_rate(second.backward) && first.count == second.count;
}

/// Links, one per line; ranges of equal links on one line.
std::string link_lines(const std::vector<NodeLink>& links) {
  std::string text;
  for (std::size_t i = 0; i < links.size();) {
    End from{links[i].from, links[i].from};
    End to{links[i].to, links[i].to};
    auto end = i + 1;
    for (; end < links.size() && are_equal(links[end], links[i]); ++end) {
      const bool is_second = end == i + 1;
      if (!from.accepts(links[end].from, is_second) || !to.accepts(links[end].to, is_second)) break;
      from.append(links[end].from);
      to.append(links[end].to);
    }
    text += link_line(links[i], from, to);
    i = end;
  }
  return text;
}

std::string vendor_line(const PlatformDraft& draft) {
  struct Vendor {
    std::string_view part;
    std::string_view word;
  };
  constexpr std::array vendors{Vendor{"Intel", "intel"}, Vendor{"AMD", "amd"}, Vendor{"ARM", "arm"},
                               Vendor{"Arm", "arm"}, Vendor{"NVIDIA", "arm"}};
  for (const auto& vendor : vendors) {
    if (draft.cpu_vendor.find(vendor.part) != std::string::npos)
      return fmt::format("cpu_vendor: {}\n", vendor.word);
  }
  return fmt::format("# The vendor of the CPUs is unknown ({}): NCCL's rules for Intel are used.\n",
                     draft.cpu_vendor.empty() ? draft.no_vendor : ascii_line(draft.cpu_vendor));
}

class PlatformWriter {
 public:
  explicit PlatformWriter(const PlatformDraft& draft) : draft_{draft} {}

  std::string write() {
    write_head();
    write_parts();
    write_links();
    for (const auto& line : draft_.closing) add(fmt::format("# {}\n", line));
    return std::move(yaml_);
  }

 private:
  void add(std::string_view text) { yaml_ += text; }
  void comment(std::string_view indent, std::string_view text) {
    add(wrapped(fmt::format("{}# ", indent), ascii_line(text)));
  }

  void write_head() {
    add("schema: 1\nsource: >-\n");
    add(wrapped("  ", ascii_line(draft_.source)));
    for (const auto& remark : draft_.gpu_remarks) comment("", remark);
    add(fmt::format("gpu: {}\n", draft_.gpu));
    if (!draft_.calibration.empty()) add(fmt::format("calibration: {}\n", draft_.calibration));
    add(vendor_line(draft_));
    if (draft_.nvls_was_off) {
      comment("", "NVLink multicast was off when it was measured (NCCL_NVLS_ENABLE=0).");
      add("nvls: false\n");
    }
    if (!draft_.pageable_copy) return;
    comment("", draft_.pageable_copy->second);
    add(fmt::format("pageable_copy: {}\n", platform_rate(draft_.pageable_copy->first)));
  }

  std::vector<std::string> names_of(DeviceKind kind) const {
    std::vector<std::string> names;
    for (const auto part : draft_.layout.of_kind(kind)) names.push_back(draft_.layout.name(part));
    return names;
  }

  void list(std::string_view key, const std::vector<std::string>& names) {
    if (!names.empty()) add(fmt::format("  {}: {}\n", key, patterns(names)));
  }

  void write_parts() {
    add(fmt::format("node:\n  gpus: {}\n", draft_.layout.gpus));
    for (const auto& remark : draft_.remarks) comment("  ", remark);
    add("  sockets:\n");
    for (const auto& socket : draft_.links.sockets) {
      comment("    ", socket.source);
      add(fmt::format("    - {{ name: {}, memory_bandwidth: {} }}\n", socket.name,
                      platform_rate(socket.bandwidth)));
    }
    list("root_complexes", names_of(DeviceKind::root_complex));
    list("pcie_switches", names_of(DeviceKind::pcie_switch));
    list("nvswitches", nvswitches());
    for (const auto& remark : draft_.nic_remarks) comment("  ", remark);
    list("nics", draft_.nics);
  }

  std::vector<std::string> nvswitches() const {
    std::vector<std::string> names;
    for (const auto& group : draft_.links.groups) {
      for (const auto& link : group.links) {
        const bool is_new = names.empty() || names.back() != link.to;
        if (link.to.starts_with("nvswitch") && is_new) names.push_back(link.to);
      }
    }
    return names;
  }

  void write_links() {
    add("  links:\n");
    for (const auto& group : draft_.links.groups) {
      comment("    ", group.source);
      add(link_lines(group.links));
    }
    for (const auto& line : draft_.loose_links) add(fmt::format("    # {}\n", line));
  }

  const PlatformDraft& draft_;
  std::string yaml_;
};

}  // namespace

std::string platform_text(const PlatformDraft& draft) {
  return PlatformWriter{draft}.write();
}

std::string platform_rate(BytesPerSecond rate) {
  return fmt::format("{:.4g} GB/s", rate.value() / 1e9);
}

}  // namespace gradway
