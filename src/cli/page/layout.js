// SPDX-License-Identifier: Apache-2.0
// A layered layout: boxes are in layers below what they read, long edges get a place in each layer that they pass, neighbours are
// ordered by where their own neighbours are. A tall picture is cut into columns, read like those of a newspaper, so that it fills the
// window. Cost: a few passes over boxes and edges, each O(n log n); 5,000 nodes take a fraction of a second.

const kGapX = 16, kGapY = 30, kGutter = 56, kSweeps = 6;
/// Edges over more layers than this are drawn straight, below everything, and have no say in where boxes are placed.
const kFar = 30;
/// How hard the middle of the picture pulls at everything, relative to 1 for a neighbour: long chains would lean sideways without it.
const kUpright = 0.05;

/// boxes: {w, h} in topological order; edges: [from, to]. aspect: of the window.
/// Gives each box its middle x, y; returns {width, height, lanes, edges: [{from, to, path: lanes, or null where far}]}.
function layOut(boxes, edges, aspect) {
  const layer = layersOf(boxes.length, edges);
  const net = netOf(boxes, edges, layer);
  orderLayers(net);
  placeAcross(net);
  return cutIntoColumns(net, boxes, aspect);
}

/// The longest path from any source; sources are placed just above their first user.
function layersOf(count, edges) {
  const layer = new Int32Array(count), users = Array.from({length: count}, () => []), reads = new Uint8Array(count);
  for (const [from, to] of edges) { users[from].push(to); reads[to] = 1; }
  for (let b = 0; b < count; ++b) for (const to of users[b]) layer[to] = Math.max(layer[to], layer[b] + 1);
  for (let b = 0; b < count; ++b) if (!reads[b] && users[b].length) layer[b] = Math.min(...users[b].map(to => layer[to])) - 1;
  return layer;
}

/// Boxes and, after them, one lane (a box of no height) a layer that an edge passes; edges with one source share their lanes.
function netOf(boxes, edges, layer) {
  const items = boxes.map((box, b) => ({layer: layer[b], w: box.w, h: box.h, up: [], down: [], x: 0, lane: false}));
  const join = (a, b) => { if (!items[a].down.includes(b)) { items[a].down.push(b); items[b].up.push(a); } };
  const lanes = new Map(), routes = [];
  for (const [from, to] of edges) {
    if (layer[to] - layer[from] > kFar) { routes.push({from, to, path: null}); continue; }
    const path = [from];
    for (let l = layer[from] + 1; l < layer[to]; ++l) {
      const key = from * 2 ** 21 + l;
      if (!lanes.has(key)) {
        lanes.set(key, items.length);
        items.push({layer: l, w: 4, h: 0, up: [], down: [], x: 0, lane: true});
      }
      path.push(lanes.get(key));
    }
    path.push(to);
    for (let k = 1; k < path.length; ++k) join(path[k - 1], path[k]);
    routes.push({from, to, path});
  }
  const layers = [];
  items.forEach((item, i) => (layers[item.layer] ??= []).push(i));
  for (let l = 0; l < layers.length; ++l) layers[l] ??= [];
  return {items, layers, routes};
}

/// Sorts each layer by the mean place of its neighbours, alternately down and up.
function orderLayers({items, layers}) {
  const place = new Float64Array(items.length);
  const number = ids => ids.forEach((i, k) => { place[i] = k - ids.length / 2; });
  layers.forEach(number);
  const sort = (ids, side) => {
    const wanted = new Map(ids.map(i => [i, items[i][side].length ? items[i][side].reduce((s, j) => s + place[j], 0) / items[i][side].length : place[i]]));
    ids.sort((a, b) => wanted.get(a) - wanted.get(b));
    number(ids);
  };
  for (let k = 0; k < kSweeps; ++k) {
    for (let l = 1; l < layers.length; ++l) sort(layers[l], "up");
    for (let l = layers.length - 2; l >= 0; --l) sort(layers[l], "down");
  }
}

/// The places nearest to the wanted ones (least squares) that keep neighbours apart: isotonic regression of what is left of each wanted
/// place once everything to its left is subtracted; neighbours that would pass each other are pooled.
function keepApart(wanted, weights, offsets) {
  const pools = [];
  for (let k = 0; k < wanted.length; ++k) {
    let pool = {sum: (wanted[k] - offsets[k]) * weights[k], weight: weights[k], count: 1};
    while (pools.length && pools.at(-1).sum / pools.at(-1).weight > pool.sum / pool.weight) {
      const left = pools.pop();
      pool = {sum: left.sum + pool.sum, weight: left.weight + pool.weight, count: left.count + pool.count};
    }
    pools.push(pool);
  }
  const out = [];
  for (const pool of pools) for (let k = 0; k < pool.count; ++k) out.push(pool.sum / pool.weight + offsets[out.length]);
  return out;
}

/// Lanes are to be straight: what joins two of them pulls hardest.
function placeAcross({items, layers}) {
  const pull = (a, b) => items[a].lane && items[b].lane ? 8 : items[a].lane || items[b].lane ? 2 : 1;
  const offsets = layers.map(ids => {
    let at = 0;
    return ids.map((i, k) => k === 0 ? 0 : at += (items[ids[k - 1]].w + items[i].w) / 2 + kGapX);
  });
  layers.forEach((ids, l) => ids.forEach((i, k) => { items[i].x = offsets[l][k] - (offsets[l].at(-1) ?? 0) / 2; }));
  const settle = (l, sides) => {
    const ids = layers[l], wanted = [], weights = [];
    for (const i of ids) {
      let sum = 0, weight = kUpright;
      for (const side of sides) for (const j of items[i][side]) { const p = pull(i, j); sum += p * items[j].x; weight += p; }
      wanted.push(sum / weight);
      weights.push(weight);
    }
    keepApart(wanted, weights, offsets[l]).forEach((x, k) => { items[ids[k]].x = x; });
  };
  for (let k = 0; k < kSweeps; ++k) {
    for (let l = 1; l < layers.length; ++l) settle(l, ["up"]);
    for (let l = layers.length - 2; l >= 0; --l) settle(l, ["down"]);
  }
  for (let l = 0; l < layers.length; ++l) settle(l, ["up", "down"]);
}
