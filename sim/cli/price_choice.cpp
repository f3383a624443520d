// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/price_choice.hpp"

#include <CLI/CLI.hpp>

namespace gradway::cli {

void add_price_choice(CLI::App& app, PriceChoice& choice) {
  app.add_option("--prices", choice.file, "prices instead of the platforms' own; a name of 'list prices' too")
      ->type_name("FILE");
  app.add_option("--price-date", choice.date, "the day whose prices count; the newest if not given")
      ->type_name("DATE");
  app.add_option("--region", choice.region, "whose prices count; a platform's first if not given")
      ->type_name("NAME");
}

}  // namespace gradway::cli
