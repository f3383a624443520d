// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/cli/campaign/actions.hpp"
#include "sim/cli/shell/command_context.hpp"
#include "sim/cli/shell/out_folder.hpp"
#include "sim/cli/shell/status.hpp"
#include "sim/cli/shell/training_options.hpp"
#include "sim/report/page/page.hpp"
#include "sim/study/search/search_space.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

struct OptimizeArguments {
  SearchRequest search;
  std::vector<std::string> set;
  TrainingOptions training;
  std::string engine = "fluid";  // runs in this process
  std::string out;
  int jobs = 0;
  bool json = false;
  bool layout = false;
  std::string global_batch;
  std::size_t top = 0;  ///< layouts to show; 0: as many as usual
  bool campaign = false;
  CampaignArguments campaign_choice{};
};

/// Prints a search, and writes its document, the code of what it recommends and a page if asked.
template <class SearchReport, class Code>
void show_search(const SearchReport& search, const Code& snippet, const OptimizeArguments& arguments,
                 bool writes_files, const CommandContext& context) {
  const Results results{
      .text = [&](auto& out) { report::write_table(out, search, context.style); },
      .page = [&](auto& out) { report::write_page(out, search, GRADWAY_VERSION); },
      .files = {{"optimize.json",
                 [&](auto& out) { report::write(out, report::json_document(search, GRADWAY_VERSION)); }},
                {snippet.file, [&](auto& out) { out << snippet.text; }}}};
  show(results, arguments.json ? "optimize.json" : "", writes_files ? arguments.out : "", context);
}

/// `optimize --layout`: searches how ranks share the model, not the settings of one strategy.
Status optimize_layout(const OptimizeArguments& arguments, const CLI::App& app,
                       const CommandContext& context);

/// `optimize --campaign`: searches the cluster, layout, terms and spares with which a campaign is cheapest or
/// fastest.
Status optimize_campaign(const OptimizeArguments& arguments, const CLI::App& app,
                         const CommandContext& context);

}  // namespace gradway::cli
