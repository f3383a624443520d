// SPDX-License-Identifier: Apache-2.0
// Positions of the devices of a platform: a block per node, a layer per kind, each device above its parent.
import type { Device, Platform } from '../document';

export interface Placed {
  device: Device;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  placed: Placed[];
  height: number;
}

/** From the top. "below": switches between a socket and its network cards that lead to no GPU. */
const layers = ['nvswitch', 'gpu', 'pcie_switch', 'root_complex', 'socket', 'root_complex below', 'pcie_switch below', 'nic'];
/** GPUs are placed first, then the devices attached to placed ones. */
const order = [...layers.slice(1), 'nvswitch'];
const layerHeight = 66;
const gap = 26;
/** Space for arcs between GPUs of the top layer. */
const arcs = 36;
const widest: Record<string, number> = { nvswitch: 150, fabric_switch: 120, socket: 74, nic: 66 };

const isShared = (device: Device): boolean => device.kind === 'fabric_switch' || device.node < 0;

type Near = Map<string, string[]>;

function neighbours(platform: Platform): Near {
  const map: Near = new Map();
  const add = (a: string, b: string): void => void map.set(a, [...(map.get(a) ?? []), b]);
  for (const { a, b } of platform.links) {
    add(a, b);
    add(b, a);
  }
  return map;
}

/** All devices that are reachable from the starts through passable devices. */
function reached(starts: string[], near: Near, passes: (name: string) => boolean): Set<string> {
  const seen = new Set(starts);
  const next = [...starts];
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    for (const other of near.get(name) ?? []) {
      if (seen.has(other) || !passes(other)) continue;
      seen.add(other);
      next.push(other);
    }
  }
  return seen;
}

/** The layer of each device inside a node. */
function layersOf(platform: Platform, near: Near): Map<string, string> {
  const kinds = new Map(platform.devices.map((device) => [device.name, device.kind]));
  const isSwitch = (name: string): boolean => ['pcie_switch', 'root_complex'].includes(kinds.get(name) ?? '');
  const gpus = platform.devices.filter((device) => device.kind === 'gpu').map((device) => device.name);
  const above = reached(gpus, near, isSwitch);
  return new Map(platform.devices.map(({ name, kind }) => [name, isSwitch(name) && !above.has(name) ? `${kind} below` : kind]));
}

/** Rows of network switches: those with cards first, then those above them. */
function fabricRows(shared: Device[], near: Near): Device[][] {
  const names = new Set(shared.map((device) => device.name));
  const rows: Device[][] = [];
  let left = shared;
  let reach = (device: Device): boolean => (near.get(device.name) ?? []).some((name) => !names.has(name));
  while (left.length > 0) {
    const found = left.filter(reach);
    const row = found.length > 0 ? found : left;
    rows.push(row);
    left = left.filter((device) => !row.includes(device));
    const last = new Set(row.map((device) => device.name));
    reach = (device) => (near.get(device.name) ?? []).some((name) => last.has(name));
  }
  return rows;
}

/** Positions between 0 and 1, as near to the desired ones as their number allows. */
function apart(wishes: number[]): number[] {
  const least = 0.96 / wishes.length;
  const indices = wishes.map((_, i) => i).sort((a, b) => wishes[a]! - wishes[b]! || a - b);
  const places = indices.map((i) => wishes[i]!);
  for (let i = 0; i < places.length; ++i) places[i] = Math.max(places[i]!, i === 0 ? least / 2 : places[i - 1]! + least);
  for (let i = places.length - 1; i >= 0; --i) places[i] = Math.min(places[i]!, i === places.length - 1 ? 1 - least / 2 : places[i + 1]! - least);
  const result = new Array<number>(wishes.length);
  indices.forEach((index, i) => (result[index] = places[i]!));
  return result;
}

/** Places a row above its neighbours that have a position, or else evenly. */
function place(row: Device[], near: Near, known: Map<string, number>): void {
  const wishes = row.map((device, i) => {
    const places = (near.get(device.name) ?? []).map((name) => known.get(name)).filter((x): x is number => x !== undefined);
    return places.length > 0 ? places.reduce((a, b) => a + b, 0) / places.length : (i + 0.5) / row.length;
  });
  apart(wishes).forEach((x, i) => known.set(row[i]!.name, x));
}

/** @param width of the drawing in pixels */
export function layoutOf(platform: Platform, width: number): Layout {
  const near = neighbours(platform);
  const layer = layersOf(platform, near);
  const inside = platform.devices.filter((device) => !isShared(device));
  const nodes = [...new Set(inside.map((device) => device.node))].sort((a, b) => a - b);
  const rowsOf = (node: number, name: string): Device[] => inside.filter((device) => device.node === node && layer.get(device.name) === name);
  const names = [...layers, ...new Set(inside.map((device) => layer.get(device.name)!).filter((name) => !layers.includes(name)))];
  const used = names.filter((name) => nodes.some((node) => rowsOf(node, name).length > 0));
  const longest = Math.max(1, ...nodes.flatMap((node) => used.map((name) => rowsOf(node, name).length)));
  const columns = Math.max(1, Math.min(nodes.length, Math.floor(width / (longest * 40 + gap))));
  const blocks = Math.ceil(nodes.length / columns);
  const blockWidth = (width - gap * (columns - 1)) / columns;
  const blockHeight = used.length * layerHeight;
  const fabric = fabricRows(platform.devices.filter(isShared), near);
  const fabricHeight = fabric.length * layerHeight;
  const isGpu = (name: string): boolean => layer.get(name) === 'gpu';
  const top = used[0] === 'gpu' && platform.links.some(({ a, b }) => isGpu(a) && isGpu(b)) ? arcs : 0;
  const placed: Placed[] = [];
  const middle = new Map<string, number>();
  const put = (device: Device, x: number, y: number, room: number): void => {
    middle.set(device.name, x / width);
    placed.push({ device, x, y, width: Math.max(7, Math.min(widest[device.kind] ?? 52, room - 6)), height: device.kind === 'gpu' ? 32 : 26 });
  };

  nodes.forEach((node, i) => {
    const block = Math.floor(i / columns);
    const left = (i % columns) * (blockWidth + gap);
    const start = top + block * (blockHeight + gap) + (block > 0 ? fabricHeight : 0);
    // Blocks below shared switches are flipped, with network cards at the top.
    const flipped = block > 0 && fabric.length > 0;
    const known = new Map<string, number>();
    for (const name of [...order, ...used.filter((one) => !order.includes(one))]) place(rowsOf(node, name), near, known);
    used.forEach((name, at) => {
      const y = start + ((flipped ? used.length - 1 - at : at) + 0.5) * layerHeight;
      const row = rowsOf(node, name);
      for (const device of row) put(device, left + known.get(device.name)! * blockWidth, y, blockWidth / row.length);
    });
  });

  fabric.forEach((row, at) => {
    place(row, near, middle);
    const y = top + (inside.length > 0 ? blockHeight : 0) + (at + 0.5) * layerHeight;
    for (const device of row) put(device, middle.get(device.name)! * width, y, width / row.length);
  });
  return { placed, height: top + blocks * (blockHeight + gap) - gap + fabricHeight };
}
