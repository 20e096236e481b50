// SPDX-License-Identifier: Apache-2.0
// The partition report: tables of segments, nodes, borders, reasons.

const kMostRows = 2000;

const backendCell = name => el("span", {className: "backend", style: hueOf(name)}, el("i", {}), name);
const numberCell = text => el("td", {className: "number"}, text);
const nameCell = (...content) => el("td", {className: "name"}, ...content);
const opCell = text => el("td", {className: "op"}, text);
const reasonsText = node => node.reasons.map(r => `${r.code}: ${r.text}`).join("; ");
const bytesCell = row => numberCell(row.bytes === null ? "any size" : bytesText(row.bytes));

/// A row is a list of texts, elements and cells.
function tableOf(heading, rows) {
  const cells = row => row.map(cell => cell instanceof HTMLTableCellElement ? cell : el("td", {}, cell));
  const out = el("table", {}, el("thead", {}, el("tr", {}, ...heading.map(text => el("th", {}, text)))),
    el("tbody", {}, ...rows.slice(0, kMostRows).map(row => el("tr", {}, ...cells(row)))));
  return rows.length > kMostRows ? [out, el("p", {className: "dim"}, `and ${rows.length - kMostRows} more`)] : [out];
}

/// A list of rows of which a text shows some: those that contain it.
function filtered(list, wordsOf, heading, rowOf) {
  const place = el("div", {}), input = el("input", {id: "filter", type: "search", placeholder: "show only what holds \u2026", autocomplete: "off"});
  const show = () => {
    const wanted = input.value.trim().toLowerCase(), found = list.filter(item => wordsOf(item).toLowerCase().includes(wanted));
    place.replaceChildren(...(wanted ? [el("p", {className: "dim"}, `${found.length} of ${list.length}`)] : []), ...tableOf(heading, found.map(rowOf)));
  };
  input.oninput = show;
  show();
  return [input, place];
}

const segmentLink = (id, go) => link(`${id}`, () => go.segment(id));
const bodyLinks = (node, go) => (node.bodies ?? []).map((body, k) => el("div", {}, link(`body ${k}: ${counted(body.segments.length, "segment")}`, () => go.body(node, k))));

const nodesTable = (nodes, go) => filtered(nodes, node => `${node.name} ${node.op} ${node.module} ${node.backend} ${reasonsText(node)} ${(node.sources ?? []).join(" ")}`,
  ["node, its module", "op", "backend", "segment", "why"],
  node => [Object.assign(nameCell(node.name, ...(node.module ? [el("div", {className: "dim"}, node.module)] : []), ...bodyLinks(node, go)),
    {title: node.sources ? `from ${node.sources.join(", ")}` : ""}), opCell(node.op), backendCell(node.backend),
    segmentLink(node.segment, go), nameCell(reasonsText(node))]);

const bordersTable = (borders, go) => filtered(borders, row => `${row.value} ${row.shape}`, ["value", "from", "to", "shape", "bytes", "copies", `time, a guess${guessedAt}`],
  row => [nameCell(row.value), segmentLink(row.from, go), segmentLink(row.to, go), row.shape, bytesCell(row), numberCell(`${row.copies}`), numberCell(row.us === null ? "" : usText(row.us))]);

/// A row for each backend, op and list of reasons.
function reasonRows(nodes) {
  const out = new Map();
  for (const node of nodes) {
    const key = JSON.stringify([node.backend, node.op, reasonsText(node)]);
    out.set(key, (out.get(key) ?? 0) + 1);
  }
  return [...out].map(([key, count]) => [...JSON.parse(key), count])
    .sort((a, b) => lanes.indexOf(a[0]) - lanes.indexOf(b[0]) || b[3] - a[3])
    .map(([backend, op, why, count]) => [backendCell(backend), opCell(op), numberCell(`${count}`), why]);
}

function overview(partition) {
  const out = [el("p", {className: "dim"}, `Times of segments and copies are guesses${guessedAt}: \`tenon bench\` measures.`)];
  const part = (title, heading, rows) => { if (rows.length) out.push(el("h2", {}, title), ...tableOf(heading, rows)); };
  part("Handed back", ["segment", "backend", "error"], (partition.handed_back ?? []).map(h => [`${h.segment}`, backendCell(h.backend), el("span", {className: "bad"}, h.error)]));
  part("Were one op accelerated", ["op", "borders removed", "segments left"],
    (partition.what_if ?? []).map(w => [opCell(w.blocked_by ? `${w.op} (grouped with ${w.blocked_by.join(", ")})` : w.op), numberCell(`${w.borders_removed}`), numberCell(`${w.segments}`)]));
  part("Why", ["backend", "op", "nodes", "why"], reasonRows(partition.nodes));
  return out;
}

/// One segment: what it reads, gives and runs.
function segmentPanel(partition, id, go) {
  const segment = partition.segments[id], rows = [];
  const reads = partition.borders.filter(b => b.to === id), gives = partition.borders.filter(b => b.from === id);
  const outside = (values, crossing, text) => values.filter(v => !crossing.some(b => b.value === v)).map(v => [nameCell(v), text, "", "", ""]);
  const row = (b, other) => [nameCell(b.value), segmentLink(other, go), b.shape, bytesCell(b), numberCell(`${b.copies}`)];
  rows.push(el("h2", {}, `Segment ${id} on `, backendCell(segment.backend)),
    el("p", {}, `${counted(segment.nodes.length, "node")}${segment.us === null ? "" : `, a guess: ${usText(segment.us)}${guessedAt}`}`));
  rows.push(el("h2", {}, "Reads"), ...tableOf(["value", "from", "shape", "bytes", "copies"], [...reads.map(b => row(b, b.from)), ...outside(segment.inputs, reads, "the model's input")]));
  rows.push(el("h2", {}, "Gives"), ...tableOf(["value", "to", "shape", "bytes", "copies"], [...gives.map(b => row(b, b.to)), ...outside(segment.outputs, gives, "the model's result")]));
  rows.push(el("h2", {}, "Runs"), ...tableOf(["node", "op", "why"], partition.nodes.filter(n => n.segment === id).map(n => [nameCell(n.name), opCell(n.op), reasonsText(n)])));
  return rows;
}
