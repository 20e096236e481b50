// SPDX-License-Identifier: Apache-2.0
// What a node is: the panel beside the picture.

const opOf = node => node.kind ? node.kind : node.op;

/// go(graph number, node): shows it; fold(key); light(Set of nodes): marks them.
function nodePanel(data, at, n, {go, fold, light}) {
  const graph = data.graphs[at], node = graph.nodes[n];
  const rows = el("dl", {});
  const row = (name, ...content) => { if (content.length) rows.append(el("dt", {}, name), el("dd", {}, ...content)); };
  row("name", ...(node.name ? [node.name] : []));
  row("module", ...(node.module ? [node.module] : []));
  row("attributes", ...(node.attributes ?? []).map(text => el("div", {}, text)));
  row("reads", ...node.in.map(v => operandRow(graph, v, m => go(at, m))));
  row("gives", ...node.out.filter(v => v >= 0).map(v => resultRow(graph, v, m => go(at, m))));
  row("bodies", ...(node.bodies ?? []).map(b => el("div", {}, link(data.graphs[b].name, () => go(b, -1)))));
  row("made by rule", ...(node.rule ? [node.rule] : []));
  for (const [name, list] of counterparts(data, at, n)) row(name, ...list.map(([g, m, text]) => el("div", {}, m < 0 ? text : link(text, () => go(g, m)))));
  for (const g of node.groups ?? []) row("fused group", ...groupRows(graph, g, light));
  const keys = keysAround(graph, n).filter(key => graph.open.has(key));
  if (keys.length) row("shown in", el("div", {}, link("fold this layer", () => fold(keys.at(-1)))), el("div", {}, link("fold all of its kind", () => fold(keys[0]))));
  return [el("h2", {}, opOf(node)), rows];
}

function operandRow(graph, v, go) {
  if (v < 0) return el("div", {className: "dim"}, "(left out)");
  const value = graph.values[v], type = ` ${value.type ?? ""}`;
  if (value.constant !== undefined) return el("div", {}, value.name || "constant", el("span", {className: "dim"}, type, value.constant ? ` = ${value.constant}` : " constant"));
  const from = graph.producer[v];
  return el("div", {}, from < 0 ? value.name : link(value.name || opOf(graph.nodes[from]), () => go(from)), el("span", {className: "dim"}, type));
}

function resultRow(graph, v, go) {
  const value = graph.values[v], users = graph.users[v], most = 12;
  const out = el("div", {}, value.name, el("span", {className: "dim"}, ` ${value.type ?? ""}`));
  for (const user of users.slice(0, most)) out.append(el("div", {className: "user"}, "to ", link(graph.nodes[user].name || opOf(graph.nodes[user]), () => go(user))));
  if (users.length > most) out.append(el("div", {className: "user dim"}, `and ${users.length - most} more`));
  return out;
}

/// Nodes of the graph before, or of the one after, that this one came from or became: ["came from", [[graph, node, text]]].
function counterparts(data, at, n) {
  const graph = data.graphs[at], node = graph.nodes[n], out = [];
  if (node.kind) return out;
  const sourcesOf = (g, m) => g.nodes[m].from ?? [nameOf(g, m)];
  if (graph.before !== undefined) {
    const before = data.graphs[graph.before];
    out.push(["came from", sourcesOf(graph, n).map(name => [graph.before, before.byName.get(name) ?? -1, name])]);
  }
  if (graph.after !== undefined) {
    const after = data.graphs[graph.after], name = nameOf(graph, n), became = [];
    after.nodes.forEach((other, m) => { if (!other.kind && sourcesOf(after, m).includes(name)) became.push([graph.after, m, other.op]); });
    out.push(["became", became.length ? became : [[-1, -1, "nothing that says so: folded, or never used"]]]);
  }
  return out;
}

function groupRows(graph, g, light) {
  const group = graph.groups[g], members = new Set();
  graph.nodes.forEach((node, n) => { if (node.groups?.includes(g)) members.add(n); });
  const count = `${members.size} node${members.size === 1 ? "" : "s"}`;
  const out = [el("div", {}, link(`${group.kind}, ${count}`, () => light(members)))];
  for (const step of group.steps) out.push(el("div", {}, `${step.runs}: ${step.computes}`, step.ms === undefined ? "" : `, ${timeText(step.ms)}`));
  return out;
}

/// Colours and their meaning.
function legend(graph, way) {
  const colours = theme(), swatch = (fill, text) => el("span", {className: "swatch"}, el("i", {style: `background:${fill}`}), text);
  if (way === "time") return [0.003, 0.05, 0.4, 1].map(share => swatch(colours.hue(50 - 50 * Math.sqrt(share), share > 0.1), ["little", "", "", "most time"][[0.003, 0.05, 0.4, 1].indexOf(share)]));
  if (way === "group") return [el("span", {className: "dim"}, "one colour a fused group")];
  const used = new Set(graph.nodes.filter(node => !node.kind).map(node => familyOf(node.op)[0]));
  return kFamilies.filter(([name]) => used.has(name)).map(([name, , hue]) => swatch(colours.hue(hue), name));
}
