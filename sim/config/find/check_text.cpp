// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config.hpp"

#include "sim/base/contract.hpp"
#include "sim/config/find/document.hpp"
#include "sim/config/read/input.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/source_file.hpp"

namespace gradway {

using namespace config;

void check_text(DataKind kind, const std::string& text) {
  const std::string name = "text";
  Problems problems;
  const auto root = read_document(SourceText{name, text}, problems);
  Reader reader{root, in_file(name), problems};
  switch (kind) {
    case DataKind::platform: {
      const auto spec = read_platform(reader, name);
      problems.raise();
      Gpu any;
      any.ideal = true;
      static_cast<void>(build_platform(spec.description, any, 1));
      break;
    }
    case DataKind::gpu:
      read_gpu(reader, name);
      break;
    case DataKind::model:
      read_model(reader, name);
      break;
    case DataKind::calibration:
      read_calibration(reader, name);
      break;
    case DataKind::dataset:
      read_dataset(reader, name);
      break;
    case DataKind::scenario:
    case DataKind::storage:
    case DataKind::prices:
      expects(false, "gradway writes no such file");
  }
  problems.raise();
}

}  // namespace gradway
