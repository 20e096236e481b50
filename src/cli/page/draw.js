// SPDX-License-Identifier: Apache-2.0
// The picture: edges, frames around open layers, boxes; only what is inside the window.

const kFont = 13, kLineHeight = 16, kPadding = 9;
const kLeastText = 4;  // pixels on the screen; smaller letters are left out

const kFamilies = [
  ["products", /MatMul|Gemm|Conv|Einsum|Attention|LSTM|GRU|RNN/, 24],
  ["reductions", /Norm|Softmax|Reduce|Pool|ArgM|CumSum|TopK/, 110],
  ["moves", /Reshape|Transpose|Slice|Concat|Gather|Scatter|Split|queeze|Expand|Pad|Tile|Flatten|Resize|^Copy/, null],
  ["shapes", /Shape|Size|Range|Constant/, 48],
  ["control", /^If$|Loop|Scan/, 285],
  ["point-wise", /./, 210],
];
const familyOf = op => kFamilies.find(([, pattern]) => pattern.test(op));

/// Colours of the page's theme, by name.
function theme() {
  const style = getComputedStyle(document.documentElement), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const get = name => style.getPropertyValue(`--${name}`).trim();
  return {paper: get("paper"), ink: get("ink"), dim: get("dim"), line: get("line"), soft: get("soft"), accent: get("accent"), found: get("found"),
    hue: (h, strong) => h === null ? (dark ? "#3a3e44" : "#e2e4e8") : `hsl(${h} ${strong ? 70 : 45}% ${dark ? (strong ? 38 : 27) : (strong ? 70 : 86)}%)`};
}

/// What a box is filled with, by the way of colouring that is chosen.
function fillOf(graph, box, way, colours, slowest) {
  if (box.kind === "node" && graph.nodes[box.first].kind) return colours.paper;
  if (way === "time") {
    const share = timeOf(graph, box.first, box.end) / slowest;
    return share > 0 ? colours.hue(50 - 50 * Math.sqrt(share), share > 0.1) : colours.soft;
  }
  if (box.kind !== "node") return colours.soft;
  const node = graph.nodes[box.first];
  if (way === "group") return node.groups?.length ? colours.hue(node.groups[0] * 137.508 % 360) : colours.paper;
  return colours.hue(familyOf(node.op)[2]);
}

function measureBoxes(context, boxes) {
  for (const box of boxes) {
    context.font = `600 ${kFont}px system-ui, sans-serif`;
    const title = context.measureText(box.title).width;
    context.font = `${kFont - 2}px system-ui, sans-serif`;
    box.w = Math.max(44, title, ...box.lines.map(line => context.measureText(line).width)) + 2 * kPadding;
    box.h = 22 + box.lines.length * (kLineHeight - 2);
  }
}

function traceLine(path, line, columns) {
  path.moveTo(line.x0, line.y0);
  if (line.drop > line.y0) path.lineTo(line.x0, line.drop);
  if (!line.cut) {
    const middle = (Math.max(line.drop, line.y0) + line.y1) / 2;
    path.bezierCurveTo(line.x0, middle, line.x1, middle, line.x1, line.y1);
    return;
  }
  const track = line.track % 8 * 5, gutter = columns[line.column].right + 12 + track, low = line.low + track, high = -14 - track;
  path.arcTo(line.x0, low, gutter, low, 6);
  path.arcTo(gutter, low, gutter, high, 6);
  path.arcTo(gutter, high, line.x1, high, 6);
  path.arcTo(line.x1, high, line.x1, line.y1, 6);
  path.lineTo(line.x1, line.y1);
}

/// One path a column: what is outside of the window is left out by columns.
function pathsOf(picture) {
  const paths = picture.columns.map(() => new Path2D());
  for (const line of picture.lines.values()) traceLine(paths[line.column], line, picture.columns);
  return paths;
}

function drawBox(context, box, fill, colours, scale, marks) {
  const x = box.x - box.w / 2, y = box.y - box.h / 2;
  context.fillStyle = fill;
  context.strokeStyle = marks.selected ? colours.accent : marks.found ? colours.found : colours.dim;
  context.lineWidth = marks.selected || marks.found ? Math.max(2.5, 2 / scale) : Math.max(0.7, Math.min(0.7 / scale, 3));
  if (box.kind === "run") for (const d of [6, 3]) strokedBox(context, x + d, y + d, box.w, box.h, 6);
  strokedBox(context, x, y, box.w, box.h, box.kind === "node" && !marks.round ? 4 : 11);
  if (kFont * scale < kLeastText) return;
  context.fillStyle = colours.ink;
  context.textAlign = "center";
  context.font = `600 ${kFont}px system-ui, sans-serif`;
  context.fillText(box.title, box.x, y + 16);
  context.font = `${kFont - 2}px system-ui, sans-serif`;
  context.globalAlpha = 0.75;
  box.lines.forEach((line, k) => context.fillText(line, box.x, y + 16 + (k + 1) * (kLineHeight - 2)));
  context.globalAlpha = 1;
}

function strokedBox(context, x, y, w, h, radius) {
  context.beginPath();
  context.roundRect(x, y, w, h, radius);
  context.fill();
  context.stroke();
}

/// frames: rectangles {x, y, w, h, title}. marks: {selected: box, found: Set of boxes}.
function draw(context, scene, camera, marks) {
  const {graph, boxes, picture, frames, way} = scene, colours = theme(), ratio = devicePixelRatio;
  const {width, height} = context.canvas;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, width, height);
  context.setTransform(camera.scale * ratio, 0, 0, camera.scale * ratio, camera.x * ratio, camera.y * ratio);
  const view = {left: -camera.x / camera.scale, top: -camera.y / camera.scale};
  view.right = view.left + width / ratio / camera.scale;
  view.bottom = view.top + height / ratio / camera.scale;
  const seen = (x, y, w, h) => x < view.right && x + w > view.left && y < view.bottom && y + h > view.top;
  for (const frame of frames) {
    if (!seen(frame.x, frame.y, frame.w, frame.h)) continue;
    context.fillStyle = colours.soft;
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    strokedBox(context, frame.x, frame.y, frame.w, frame.h, 10);
    if (kFont * camera.scale < kLeastText) continue;
    context.fillStyle = colours.dim;
    context.textAlign = "left";
    context.font = `${kFont - 2}px system-ui, sans-serif`;
    context.fillText(`\u2212 ${frame.title}`, frame.x + 8, frame.y + 14, frame.w - 12);
  }
  context.strokeStyle = colours.dim;
  context.lineWidth = Math.min(Math.max(1, 0.6 / camera.scale), 4);
  context.globalAlpha = 0.7;
  picture.columns.forEach((column, c) => {
    if (column.left - kGutter < view.right && column.right + kGutter * 9 > view.left) context.stroke(scene.paths[c]);
  });
  context.globalAlpha = 1;
  drawMarkedEdges(context, scene, camera, marks.selected, colours);
  boxes.forEach((box, b) => {
    if (!seen(box.x - box.w / 2, box.y - box.h / 2, box.w + 6, box.h + 6)) return;
    drawBox(context, box, fillOf(graph, box, way, colours, scene.slowest), colours, camera.scale,
      {selected: b === marks.selected, found: marks.found.has(b), round: box.kind === "node" && graph.nodes[box.first].kind});
  });
}

/// Edges to and from the box; those that are too long to be routed are straight.
function drawMarkedEdges(context, {boxes, picture}, camera, selected, colours) {
  if (selected < 0) return;
  context.strokeStyle = colours.accent;
  context.lineWidth = Math.max(2, 1.5 / camera.scale);
  const path = new Path2D();
  for (const route of picture.routes) {
    if (route.from !== selected && route.to !== selected) continue;
    if (route.path) {
      for (let k = 1; k < route.path.length; ++k) traceLine(path, picture.lines.get(`${route.path[k - 1]},${route.path[k]}`), picture.columns);
      continue;
    }
    path.moveTo(boxes[route.from].x, boxes[route.from].y);
    path.lineTo(boxes[route.to].x, boxes[route.to].y);
  }
  context.stroke(path);
}
