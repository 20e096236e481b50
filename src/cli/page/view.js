// SPDX-License-Identifier: Apache-2.0
// What is seen of a graph: each node a box, but for runs of repeated layers that are folded into one.

/// A node that has no name goes by that of its first result.
const nameOf = (graph, n) => graph.nodes[n].name || (graph.values[graph.nodes[n].out[0]]?.name ?? "");

/// Adds to the graph as it is in the page what views of it need.
function prepare(graph) {
  graph.producer = graph.values.map(() => -1);
  graph.users = graph.values.map(() => []);
  graph.byName = new Map();
  graph.nodes.forEach((node, n) => {
    node.out.forEach(v => { if (v >= 0) graph.producer[v] = n; });
    new Set(node.in).forEach(v => { if (v >= 0) graph.users[v].push(n); });
    graph.byName.set(nameOf(graph, n), n);
    for (const g of node.groups ?? []) graph.groups[g].first ??= n;
  });
  graph.open = new Set();
  graph.selected = -1;
  openAsFirstSeen(graph);
}

const kSmallGraph = 60, kMostLayers = 40;

/// A small graph is shown whole; of a large one each layer is a box, or, where layers are many, all of them are.
function openAsFirstSeen(graph) {
  graph.open.clear();
  graph.folds.forEach((fold, f) => {
    if (fold.count <= kMostLayers) graph.open.add(`${f}`);
    if (graph.nodes.length <= kSmallGraph) for (let k = 0; k < fold.count; ++k) graph.open.add(`${f}.${k}`);
  });
}

function openAll(graph) {
  graph.folds.forEach((fold, f) => {
    graph.open.add(`${f}`);
    for (let k = 0; k < fold.count; ++k) graph.open.add(`${f}.${k}`);
  });
}

/// The keys that must be open for node `n` to be seen: its run's, then its layer's.
function keysAround(graph, n) {
  const f = graph.folds.findIndex(d => n >= d.first && n < d.first + d.period * d.count);
  if (f < 0) return [];
  return [`${f}`, `${f}.${Math.floor((n - graph.folds[f].first) / graph.folds[f].period)}`];
}

/// The names of the modules that all of these nodes are in: "encoder/layer.3"; empty where there is none.
function commonModule(graph, first, end) {
  let common = null;
  for (let n = first; n < end; ++n) {
    if (!graph.nodes[n].module) continue;
    const parts = graph.nodes[n].module.split("/");
    if (!common) common = parts;
    let k = 0;
    while (k < common.length && k < parts.length && common[k] === parts[k]) ++k;
    common = common.slice(0, k);
  }
  return common ? common.join("/") : "";
}

/// Boxes in topological order {key, first, end, kind: "node" | "layer" | "run", title, lines}; frames: open layers, with their boxes.
function boxesOf(graph) {
  const boxes = [], frames = [];
  const foldAt = new Map(graph.folds.map((fold, f) => [fold.first, f]));
  const single = n => boxes.push({key: `n${n}`, first: n, end: n + 1, kind: "node"});
  for (let n = 0; n < graph.nodes.length; ++n) {
    const f = foldAt.get(n);
    if (f === undefined) { single(n); continue; }
    const {first, period, count} = graph.folds[f];
    if (!graph.open.has(`${f}`)) {
      boxes.push({key: `${f}`, first, end: first + period * count, kind: "run", title: `${count} layers`});
    } else {
      for (let k = 0; k < count; ++k) {
        const begin = first + k * period, end = begin + period;
        const title = commonModule(graph, begin, end) || `layer ${k + 1} of ${count}`;
        if (!graph.open.has(`${f}.${k}`)) { boxes.push({key: `${f}.${k}`, first: begin, end, kind: "layer", title}); continue; }
        const frame = {key: `${f}.${k}`, title, from: boxes.length};
        for (let m = begin; m < end; ++m) single(m);
        frame.to = boxes.length;
        frames.push(frame);
      }
    }
    n = first + period * count - 1;
  }
  for (const box of boxes) describe(graph, box);
  return {boxes, frames};
}

const shortened = (text, most) => text.length <= most ? text : text.slice(0, most - 1) + "\u2026";
const lastOf = (text, most) => text.length <= most ? text : "\u2026" + text.slice(1 - most);
const timeText = ms => ms >= 1 ? `${ms.toFixed(2)} ms` : `${(ms * 1000).toFixed(ms < 0.01 ? 1 : 0)} \u00b5s`;

/// The lines that are in a box: what it is, and what it gives or holds.
function describe(graph, box) {
  if (box.kind === "node") {
    const node = graph.nodes[box.first], v = node.out.find(id => id >= 0) ?? node.in[0];
    box.title = shortened(node.kind ? node.name : node.op, 34);
    box.lines = v >= 0 && graph.values[v].type ? [shortened(graph.values[v].type, 34)] : [];
  } else {
    box.title = lastOf(box.title, 34);
    box.lines = [`${box.end - box.first} nodes`];
  }
  const ms = timeOf(graph, box.first, box.end);
  if (ms > 0) box.lines.push(timeText(ms));
}

/// Measured milliseconds of these nodes; a fused group counts at its first node.
function timeOf(graph, first, end) {
  let sum = 0;
  for (let n = first; n < end; ++n) for (const g of graph.nodes[n].groups ?? []) if (graph.groups[g].first === n) sum += graph.groups[g].ms ?? 0;
  return sum;
}

/// Edges between boxes, each once: [from, to].
function edgesOf(graph, boxes) {
  const boxOf = new Int32Array(graph.nodes.length), edges = [];
  boxes.forEach((box, b) => boxOf.fill(b, box.first, box.end));
  boxes.forEach((box, b) => {
    const sources = new Set();
    for (let n = box.first; n < box.end; ++n)
      for (const v of graph.nodes[n].in) if (v >= 0 && graph.producer[v] >= 0) sources.add(boxOf[graph.producer[v]]);
    for (const from of sources) if (from < b) edges.push([from, b]);
  });
  return {edges, boxOf};
}
