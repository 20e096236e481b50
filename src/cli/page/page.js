// SPDX-License-Identifier: Apache-2.0
// The page: which graph is shown, where the camera is, what mouse, keys and the search do.

const data = JSON.parse(document.getElementById("data").textContent);
data.graphs.forEach(prepare);
const canvas = $("picture"), context = canvas.getContext("2d");
const camera = {x: 0, y: 0, scale: 1};
let at = 0, scene = null, lit = new Set(), pending = false;
const ways = data.graphs.map(graph => graph.groups.some(g => g.ms > 0) ? "time" : graph.groups.length ? "group" : "family");

/// Lays out what is visible of the graph; `still`: a node, or a box's key, that stays where it is on the screen.
function build(still) {
  const graph = data.graphs[at], old = still && scene ? boxSeen(still) : null;
  const place = old && {x: old.x * camera.scale + camera.x, y: old.y * camera.scale + camera.y};
  const {boxes, frames} = boxesOf(graph);
  measureBoxes(context, boxes);
  const {edges, boxOf} = edgesOf(graph, boxes);
  const picture = layOut(boxes, edges, freeWidth() / canvas.clientHeight);
  const slowest = Math.max(1e-9, ...boxes.map(box => timeOf(graph, box.first, box.end)));
  scene = {graph, boxes, boxOf, picture, slowest, way: ways[at], paths: pathsOf(picture), frames: frames.flatMap(f => frameParts(f, boxes))};
  const now = place && boxSeen(still);
  if (now) { camera.x = place.x - now.x * camera.scale; camera.y = place.y - now.y * camera.scale; redraw(); }
  else fit();
}

/// The box that a node is in, or the one of that key, or what it became when it was opened.
function boxSeen(still) {
  if (typeof still === "number") return scene.boxes[scene.boxOf[still]];
  return scene.boxes.find(box => box.key === still) ?? scene.boxes.find(box => box.key.startsWith(`${still}.`)) ?? scene.boxes[scene.boxOf[firstOf(still)]];
}
function firstOf(key) {
  const [f, k] = key.split(".").map(Number), fold = data.graphs[at].folds[f];
  return fold.first + (k ?? 0) * fold.period;
}

/// A frame around the boxes of an open layer, one a column that it reaches into.
function frameParts(frame, boxes) {
  const parts = new Map();
  for (const box of boxes.slice(frame.from, frame.to)) {
    const p = parts.get(box.column) ?? {left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity};
    parts.set(box.column, {left: Math.min(p.left, box.x - box.w / 2), right: Math.max(p.right, box.x + box.w / 2),
      top: Math.min(p.top, box.y - box.h / 2), bottom: Math.max(p.bottom, box.y + box.h / 2)});
  }
  return [...parts.values()].map(p => ({key: frame.key, title: frame.title, x: p.left - 8, y: p.top - 20, w: p.right - p.left + 16, h: p.bottom - p.top + 28}));
}

function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    const found = new Set([...lit].map(n => scene.boxOf[n]));
    draw(context, scene, camera, {selected: scene.graph.selected < 0 ? -1 : scene.boxOf[scene.graph.selected], found});
  });
}

/// Pixels across that the panel does not hide.
const freeWidth = () => canvas.clientWidth - ($("panel").hidden ? 0 : $("panel").offsetWidth);

function fit() {
  const {width, height} = scene.picture, margin = 28;
  const w = freeWidth() - 2 * margin, h = canvas.clientHeight - 2 * margin;
  camera.scale = Math.min(w / width, h / height, 1.3);
  camera.x = margin + (w - width * camera.scale) / 2;
  camera.y = margin + (h - height * camera.scale) / 2;
  redraw();
}

function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const scale = Math.min(Math.max(camera.scale * factor, 0.005), 6), real = scale / camera.scale;
  Object.assign(camera, {scale, x: x - (x - camera.x) * real, y: y - (y - camera.y) * real});
  redraw();
}

function pan(dx, dy) { camera.x += dx; camera.y += dy; redraw(); }

/// Shows a node of a graph: unfolds what hides it, selects it, brings it into the middle. n < 0: the graph alone.
function go(g, n) {
  if (g !== at || !scene) { at = g; build(); showTabs(); }
  if (n < 0) { select(-1); return; }
  const hidden = keysAround(scene.graph, n).filter(key => !scene.graph.open.has(key));
  hidden.forEach(key => scene.graph.open.add(key));
  if (hidden.length) build();
  select(n);
  const box = scene.boxes[scene.boxOf[n]];
  camera.scale = Math.max(camera.scale, 0.9);
  camera.x = freeWidth() / 2 - box.x * camera.scale;
  camera.y = canvas.clientHeight / 2 - box.y * camera.scale;
  redraw();
}

function select(n) {
  scene.graph.selected = n;
  lit = new Set();
  $("panel").hidden = n < 0;
  if (n >= 0) $("panel").replaceChildren(el("button", {className: "close", title: "close (Esc)", onclick: () => select(-1)}, "\u00d7"), ...nodePanel(data, at, n, {go, fold, light}));
  redraw();
}

function fold(key) { scene.graph.open.delete(key); select(-1); build(key); }
function unfold(key) { scene.graph.open.add(key); build(key); }
function light(nodes) { lit = nodes; redraw(); }

/// A click: a folded box opens, a node is shown, a frame's title folds its layer again.
function click(x, y) {
  const wx = (x - camera.x) / camera.scale, wy = (y - camera.y) / camera.scale;
  const inside = (box, margin) => Math.abs(wx - box.x) <= box.w / 2 + margin && Math.abs(wy - box.y) <= box.h / 2 + margin;
  const box = scene.boxes.find(b => inside(b, 0)) ?? scene.boxes.find(b => inside(b, 4 / camera.scale));
  if (box) { if (box.kind === "node") select(box.first); else unfold(box.key); return; }
  const frame = scene.frames.find(f => wx >= f.x && wx <= f.x + f.w && wy >= f.y && wy <= f.y + 20);
  if (frame) fold(frame.key);
  else select(-1);
}
