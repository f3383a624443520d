// SPDX-License-Identifier: Apache-2.0
#include "readers/dataset/dataset.hpp"
#include "readers/dataset/tar_module.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {

void read_tar_headers(const std::filesystem::path& file,
                      const std::function<void(const std::string& name, std::uint64_t size)>& visit) {
  check_regular_file(file, file.string());
  TarProblem problem;
  reinterpret_cast<ReadTarHeaders*>(function_of(tar_module))(file.c_str(), visit, problem);
  if (problem.reason.empty()) return;
  refuse_at(TextFile{file.string(), ""}.whole(), printable(problem.reason), problem.hint);
}

}  // namespace gradway
