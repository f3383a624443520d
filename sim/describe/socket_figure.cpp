// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/socket_figure.hpp"

namespace gradway {

SocketFigure socket_figure(std::string_view vendor, std::optional<int> model) {
  if (vendor.find("AMD") != std::string_view::npos) return {"AMD_BW", 16_GBps};
  if (vendor.find("Intel") == std::string_view::npos) return {"ARM_BW", 6_GBps};
  const auto number = model.value_or(0x55);
  if (number >= 0xCF) return {"ERP_QPI_BW", 40_GBps};
  if (number >= 0x8F) return {"SRP_QPI_BW", 22_GBps};
  if (number >= 0x55) return {"SKL_QPI_BW", 10_GBps};
  return {"BDW_QPI_BW", 6_GBps};
}

}  // namespace gradway
