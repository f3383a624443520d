// SPDX-License-Identifier: Apache-2.0
// Where the devices of a platform stand: a block a node, a layer a kind, each device over what it hangs on.
import type { Device, Platform } from '../document';

export interface Placed {
  device: Device;
  x: number;
  y: number;
  /** Room to its neighbours in its layer, in pixels. */
  room: number;
}

const layers = ['nvswitch', 'gpu', 'pcie_switch', 'root_complex', 'socket', 'nic'];
/** GPUs first, then what hangs on what is placed. */
const order = ['gpu', 'pcie_switch', 'root_complex', 'socket', 'nic', 'nvswitch'];
const layerHeight = 66;
const gap = 26;
/** Room for arcs between GPUs of the top layer. */
const arcs = 36;

const isShared = (device: Device): boolean => device.kind === 'fabric_switch' || device.node < 0;

function neighbours(platform: Platform): Map<string, string[]> {
  const map = new Map<string, string[]>();
  const add = (a: string, b: string): void => void map.set(a, [...(map.get(a) ?? []), b]);
  for (const { a, b } of platform.links) {
    add(a, b);
    add(b, a);
  }
  return map;
}

/** Places between 0 and 1, as near to those wished for as their number allows. */
function apart(wishes: number[]): number[] {
  const least = 0.96 / wishes.length;
  const indices = wishes.map((_, i) => i).sort((a, b) => wishes[a]! - wishes[b]! || a - b);
  const places = indices.map((i) => wishes[i]!);
  for (let i = 0; i < places.length; ++i) {
    const before = i === 0 ? least / 2 : places[i - 1]! + least;
    places[i] = Math.max(places[i]!, before);
  }
  for (let i = places.length - 1; i >= 0; --i) {
    const after = i === places.length - 1 ? 1 - least / 2 : places[i + 1]! - least;
    places[i] = Math.min(places[i]!, after);
  }
  const result = new Array<number>(wishes.length);
  indices.forEach((index, i) => (result[index] = places[i]!));
  return result;
}

/** Places of 0 to 1 across, by device, for one node or for what nodes share. */
function across(devices: Device[], near: Map<string, string[]>, known: Map<string, number>): void {
  const kinds = [...order, ...new Set(devices.map((device) => device.kind).filter((kind) => !order.includes(kind)))];
  const rank = new Map(devices.map((device) => [device.name, kinds.indexOf(device.kind)]));
  const placesOf = (names: string[]): number[] => names.map((name) => known.get(name)).filter((x): x is number => x !== undefined);
  // Over what was placed before it, or (in a second round) over whatever it hangs on.
  for (const round of [1, 2]) {
    kinds.forEach((kind, at) => {
      const row = devices.filter((device) => device.kind === kind);
      const wishes = row.map((device, i) => {
        const names = near.get(device.name) ?? [];
        const before = placesOf(names.filter((name) => (rank.get(name) ?? -1) < at));
        const places = before.length > 0 ? before : round === 2 ? placesOf(names.filter((name) => rank.get(name) !== at)) : [];
        return places.length > 0 ? places.reduce((a, b) => a + b, 0) / places.length : at === 0 || round === 2 ? (i + 0.5) / row.length : NaN;
      });
      const placed = row.filter((_, i) => !Number.isNaN(wishes[i]));
      apart(wishes.filter((wish) => !Number.isNaN(wish))).forEach((x, i) => known.set(placed[i]!.name, x));
    });
  }
}

export interface Layout {
  placed: Placed[];
  height: number;
}

/** @param width of the drawing in pixels */
export function layoutOf(platform: Platform, width: number): Layout {
  const near = neighbours(platform);
  const nodes = [...new Set(platform.devices.filter((device) => !isShared(device)).map((device) => device.node))].sort((a, b) => a - b);
  const inside = nodes.map((node) => platform.devices.filter((device) => !isShared(device) && device.node === node));
  const shared = platform.devices.filter(isShared);
  const used = layers.filter((kind) => inside.some((devices) => devices.some((device) => device.kind === kind)));
  const widest = Math.max(1, ...inside.map((devices) => Math.max(...used.map((kind) => devices.filter((device) => device.kind === kind).length))));
  const columns = Math.max(1, Math.min(nodes.length, Math.floor(width / (widest * 40 + gap))));
  const rows = Math.ceil(nodes.length / columns);
  const blockWidth = (width - gap * (columns - 1)) / columns;
  const blockHeight = used.length * layerHeight;
  const sharedHeight = shared.length > 0 ? layerHeight + gap : 0;
  const kindOf = new Map(platform.devices.map((device) => [device.name, device.kind]));
  const marginTop = used[0] === 'gpu' && platform.links.some(({ a, b }) => kindOf.get(a) === 'gpu' && kindOf.get(b) === 'gpu') ? arcs : 0;
  const placed: Placed[] = [];
  const middle = new Map<string, number>();

  inside.forEach((devices, i) => {
    const column = i % columns;
    const row = Math.floor(i / columns);
    const left = column * (blockWidth + gap);
    const top = marginTop + row * (blockHeight + gap) + (row > 0 ? sharedHeight : 0);
    // Blocks under what they share stand on their head: network cards up.
    const flipped = row > 0 && sharedHeight > 0;
    const known = new Map<string, number>();
    across(devices, near, known);
    for (const device of devices) {
      const layer = Math.max(0, used.indexOf(device.kind));
      const count = devices.filter((other) => other.kind === device.kind).length;
      const x = left + known.get(device.name)! * blockWidth;
      const y = top + ((flipped ? used.length - 1 - layer : layer) + 0.5) * layerHeight;
      middle.set(device.name, x / width);
      placed.push({ device, x, y, room: blockWidth / count });
    }
  });

  across(shared, near, middle);
  const y = marginTop + blockHeight + gap / 2 + layerHeight / 2;
  for (const device of shared) {
    placed.push({ device, x: middle.get(device.name)! * width, y, room: width / shared.length });
  }
  return { placed, height: marginTop + rows * (blockHeight + gap) - gap + sharedHeight };
}
