// SPDX-License-Identifier: Apache-2.0
// Cuts the layers of a tall picture into columns.

const kMostColumns = 60;
/// A cut picture must be that much larger on the screen than the whole one.
const kWorthACut = 1.3;

/// Heights, widths and what crosses below each layer.
function measured({items, layers}) {
  return layers.map(ids => {
    const left = Math.min(...ids.map(i => items[i].x - items[i].w / 2)), right = Math.max(...ids.map(i => items[i].x + items[i].w / 2));
    return {left, right, height: Math.max(0, ...ids.map(i => items[i].h)) + kGapY, crossing: ids.reduce((n, i) => n + items[i].down.length, 0)};
  });
}

/// Columns of about equal height [{from, to, left, right, height}]; near the target end of each the cut is where fewest edges cross.
function columnsOf(layers, count) {
  const total = layers.reduce((sum, l) => sum + l.height, 0), out = [];
  for (let from = 0; from < layers.length;) {
    let height = 0, best = -1, to = from;
    for (; to < layers.length; ++to) {
      height += layers[to].height;
      if (height > total / count * 1.12 && best >= 0) break;
      if (height >= total / count * 0.8 && (best < 0 || layers[to].crossing <= layers[best].crossing)) best = to;
    }
    const end = to === layers.length ? to : best + 1, part = layers.slice(from, end);
    out.push({from, to: end, left: Math.min(...part.map(l => l.left)), right: Math.max(...part.map(l => l.right)),
      height: part.reduce((sum, l) => sum + l.height, 0)});
    from = end;
  }
  return out;
}

const sizeOf = columns => ({
  width: columns.reduce((sum, c) => sum + c.right - c.left, 0) + (columns.length - 1) * kGutter,
  height: Math.max(...columns.map(c => c.height)),
});

function cutIntoColumns(net, boxes, aspect) {
  const layers = measured(net);
  const scale = columns => { const {width, height} = sizeOf(columns); return Math.min(aspect / width, 1 / height); };
  let columns = columnsOf(layers, 1), least = kWorthACut;
  for (let count = 2; count <= Math.min(kMostColumns, layers.length / 3); ++count) {
    const cut = columnsOf(layers, count);
    if (scale(cut) > scale(columns) * least) { columns = cut; least = 1; }
  }
  let x = 0;
  for (const [c, column] of columns.entries()) {
    let y = 0;
    column.x = x - column.left;
    for (let l = column.from; l < column.to; ++l) {
      for (const i of net.layers[l]) Object.assign(net.items[i], {column: c, x: net.items[i].x + column.x, top: y, bottom: y + layers[l].height - kGapY});
      y += layers[l].height;
    }
    x += column.right - column.left + kGutter;
  }
  boxes.forEach((box, b) => { const i = net.items[b]; Object.assign(box, {x: i.x, y: (i.top + i.bottom) / 2, column: i.column}); });
  const size = sizeOf(columns);
  return {...size, columns: columns.map(c => ({left: c.left + c.x, right: c.right + c.x, height: c.height})), lines: linesOf(net), routes: net.routes};
}

/// Where an edge leaves or enters an item: the places of a box lie side by side.
function port(items, i, j, side) {
  const item = items[i], others = item[side];
  if (item.lane || others.length < 2) return item.x;
  item.ports ??= {};
  const sorted = item.ports[side] ??= [...others].sort((a, b) => items[a].x - items[b].x);
  return item.x + (sorted.indexOf(j) - (sorted.length - 1) / 2) * Math.min(14, item.w * 0.7 / sorted.length);
}

/// Every piece between neighbouring layers, by "from,to": from (x0, y0) straight down to `drop`, then to (x1, y1); from the foot of one
/// column to the head of the next where `cut`, on a track of its own.
function linesOf({items}) {
  const lines = new Map(), tracks = [];
  items.forEach((a, i) => a.down.forEach(j => {
    const b = items[j];
    const x0 = port(items, i, j, "down"), x1 = port(items, j, i, "up");
    const y0 = a.lane ? a.top : (a.top + a.bottom + a.h) / 2, y1 = b.lane ? b.top : (b.top + b.bottom - b.h) / 2;
    const line = {x0, y0, x1, y1, column: a.column, drop: a.bottom, cut: a.column !== b.column, track: 0};
    if (line.cut) line.track = tracks[a.column] = (tracks[a.column] ?? -1) + 1;
    line.low = line.drop + 12;
    lines.set(`${i},${j}`, line);
  }));
  return lines;
}
