// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/out_folder.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/printable.hpp"
#include "sim/report/page/page.hpp"

namespace gradway::cli {

void add_out(CLI::App& app, std::string& folder, const std::string& files) {
  app.add_option("--out", folder, "output folder for " + files)->type_name("DIR");
}

bool wants_files(const CLI::App& app, const std::string& folder) {
  if (app.count("--out") == 0) return false;
  check_folder(folder);
  remove_abandoned_files(folder);
  return true;
}

void write_named_files(const std::string& folder, const std::vector<OutputFile>& files,
                       const CommandContext& context, const std::string& remark) {
  write_files(folder, files);
  std::string names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto* separator = i == 0 ? "" : i + 1 == files.size() ? " and " : ", ";
    names += fmt::format("{}{}/{}", separator, folder, files[i].name);
  }
  context.messages << fmt::format("wrote {}{}\n", printable(names), remark);
}

void write_results(const std::string& folder, std::vector<OutputFile> files,
                   const std::function<void(std::ostream&)>& page, const CommandContext& context,
                   const std::string& remark) {
  if (report::has_page()) files.push_back({"report.html", page});
  write_named_files(folder, files, context, remark);
  if (!report::has_page())
    context.messages << "report.html is not written: gradway was built without it (GRADWAY_PAGE)\n";
}

void show(const Results& results, std::string_view printed, const std::string& folder,
          const CommandContext& context, const std::string& remark) {
  if (printed.empty()) {
    results.text(context.results);
  } else {
    std::ranges::find(results.files, printed, &OutputFile::name)->write(context.results);
  }
  if (!folder.empty()) write_results(folder, results.files, results.page, context, remark);
}

}  // namespace gradway::cli
