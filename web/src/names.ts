// SPDX-License-Identifier: Apache-2.0
// Names of the document for display.

/** "cpu0 -> cpu1" with a true arrow. */
export const arrows = (name: string): string => name.replace(/ -> /g, ' → ');

/** Without its node: "node0.gpu1" is gpu1. */
export const shortName = (name: string): string => name.replace(/^node\d+\./, '');

const kinds: Record<string, string> = {
  gpu: 'GPU',
  socket: 'CPU socket',
  root_complex: 'root complex',
  pcie_switch: 'PCIe switch',
  nvswitch: 'NVSwitch',
  nic: 'network card',
  fabric_switch: 'network switch',
  pcie: 'PCIe',
  nvlink: 'NVLink',
  inter_socket: 'between sockets',
  network: 'network',
};

export const kindName = (kind: string): string => kinds[kind] ?? kind.replace(/_/g, ' ');
