// SPDX-License-Identifier: Apache-2.0
// Segments from top to bottom in their running order, a lane a backend, and what crosses their borders.

const kBox = {w: 230, h: 40}, kRow = 54, kGutter = 64, kTop = 12;
const kMostLetters = 34;

/// An element of SVG with attributes and children.
function svgEl(tag, attributes, ...children) {
  const out = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  out.append(...children);
  return out;
}

/// What crosses from one segment to another, together: {from, to, rows}.
function crossings(borders) {
  const out = new Map();
  for (const row of borders) {
    const key = `${row.from},${row.to}`;
    if (!out.has(key)) out.set(key, {from: row.from, to: row.to, rows: []});
    out.get(key).rows.push(row);
  }
  return [...out.values()];
}

const laneLeft = lane => kGutter + lane * (kBox.w + kGutter);
const rowTop = row => kTop + row * kRow;

/// The way of a border, and its head: into the next segment from above, else from the side.
function wayOf(border, laneOf) {
  const a = laneOf(border.from), b = laneOf(border.to), y0 = rowTop(border.from) + kBox.h / 2, top = rowTop(border.to), y1 = top + kBox.h / 2 - 6;
  const span = border.to - border.from;
  if (a === b) {
    const right = a > 0 && a === lanes.length - 1, x = laneLeft(a) + (right ? kBox.w : 0), bow = Math.min(kGutter - 8, 12 + 5 * span) * (right ? 4 : -4) / 3;
    return [`M${x} ${y0}C${x + bow} ${y0} ${x + bow} ${y1} ${x} ${y1}`, headOf(x, y1, right ? -1 : 1, 0)];
  }
  const x0 = laneLeft(a) + (b > a ? kBox.w : 0);
  if (span === 1) {
    const x = laneLeft(b) + kBox.w / 2 + (b > a ? -20 : 20), r = b > a ? -8 : 8;
    return [`M${x0} ${y0}H${x + r}Q${x} ${y0} ${x} ${y0 + 8}V${top - 2}`, headOf(x, top, 0, 1)];
  }
  const x1 = laneLeft(b) + (b > a ? 0 : kBox.w), middle = (x0 + x1) / 2;
  return [`M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}`, headOf(x1, y1, b > a ? 1 : -1, 0)];
}

/// A triangle whose point is at (x, y), pointing to (dx, dy).
function headOf(x, y, dx, dy) {
  const back = 7, half = 3.5;
  return `M${x} ${y}L${x - dx * back - dy * half} ${y - dy * back - dx * half}L${x - dx * back + dy * half} ${y - dy * back + dx * half}Z`;
}

/// "MatMul 4, Add 3", the most frequent first.
function opsText(nodes) {
  const counts = new Map();
  for (const node of nodes) counts.set(node.op, (counts.get(node.op) ?? 0) + 1);
  const text = [...counts].sort((a, b) => b[1] - a[1]).map(([op, count]) => count > 1 ? `${op} ${count}` : op).join(", ");
  return text.length > kMostLetters ? `${text.slice(0, kMostLetters - 1)}\u2026` : text;
}

function borderElement(border, laneOf) {
  const [way, head] = wayOf(border, laneOf);
  const values = border.rows.slice(0, 12).map(row => `${row.value} ${row.shape}`);
  if (border.rows.length > 12) values.push(`and ${border.rows.length - 12} more`);
  return svgEl("g", {class: "border", "data-from": border.from, "data-to": border.to},
    svgEl("title", {}, `${border.from} to ${border.to}: ${values.join(", ")}`),
    svgEl("path", {d: way, "stroke-width": Math.min(1 + Math.log2(border.rows.length), 4)}), svgEl("path", {d: head}));
}

function segmentElement(segment, nodes, laneOf, choose) {
  const x = laneLeft(laneOf(segment.id)), y = rowTop(segment.id);
  const time = segment.us === null ? "" : ` \u00b7 \u2248 ${usText(segment.us)}`;
  const out = svgEl("g", {class: "segment", "data-id": segment.id, style: hueOf(segment.backend)},
    svgEl("title", {}, `segment ${segment.id} on ${segment.backend}`),
    svgEl("rect", {x, y, width: kBox.w, height: kBox.h, rx: 6}),
    svgEl("text", {x: x + 10, y: y + 17}, `#${segment.id} \u00b7 ${counted(segment.nodes.length, "node")}${time}`),
    svgEl("text", {x: x + 10, y: y + 32}, opsText(nodes)));
  out.onclick = () => choose(segment.id);
  return out;
}

/// The whole picture; `choose` is called with the number of a segment that is clicked.
function pictureOf(partition, choose) {
  const laneOf = id => lanes.indexOf(partition.segments[id].backend);
  const width = laneLeft(lanes.length), height = rowTop(partition.segments.length);
  const rows = partition.segments.map(() => []);
  for (const node of partition.nodes) rows[node.segment].push(node);
  const svg = svgEl("svg", {width, height, viewBox: `0 0 ${width} ${height}`},
    ...lanes.map((_, lane) => svgEl("rect", {class: "lane", x: laneLeft(lane) - 8, y: 0, width: kBox.w + 16, height})),
    ...crossings(partition.borders).map(border => borderElement(border, laneOf)),
    ...partition.segments.map(segment => segmentElement(segment, rows[segment.id], laneOf, choose)));
  const heads = lanes.map((name, lane) => {
    const own = partition.segments.filter(s => s.backend === name), nodes = own.reduce((sum, s) => sum + s.nodes.length, 0);
    return el("span", {style: `left:${laneLeft(lane)}px`}, name, el("small", {}, `${counted(own.length, "segment")}, ${counted(nodes, "node")}`));
  });
  return [el("div", {className: "lanes", style: `width:${width}px`}, ...heads), svg];
}

/// Marks a segment, and all that crosses its borders; -1: nothing.
function mark(picture, id) {
  for (const g of picture.querySelectorAll(".on")) g.classList.remove("on");
  if (id < 0) return;
  const chosen = picture.querySelector(`.segment[data-id="${id}"]`);
  for (const g of [chosen, ...picture.querySelectorAll(`.border[data-from="${id}"], .border[data-to="${id}"]`)]) g.classList.add("on");
  chosen.scrollIntoView({block: "nearest", inline: "nearest"});
}
