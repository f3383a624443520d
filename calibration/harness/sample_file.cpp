// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/sample_file.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <zlib.h>

namespace gradway::probe {

void write_samples(const std::filesystem::path& file, const std::vector<Row>& rows) {
  std::string text = "[";
  for (const auto& row : rows) text += (text.size() == 1 ? "\n" : ",\n") + row.dump();
  text += "\n]\n";
  auto part = file;
  part += ".part";
  const auto* const mode = file.extension() == ".gz" ? "wb9" : "wbT";  // T: uncompressed.
  const auto out = gzopen(part.c_str(), mode);
  bool good = out != nullptr;
  if (good)
    good = gzwrite(out, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size());
  if (out != nullptr) good = gzclose(out) == Z_OK && good;
  std::error_code error;
  if (good) std::filesystem::rename(part, file, error);
  if (!good || error) {
    std::filesystem::remove(part, error);
    throw std::runtime_error{fmt::format("'{}' cannot be written", file.string())};
  }
}

}  // namespace gradway::probe
