// SPDX-License-Identifier: Apache-2.0
// Mouse, fingers, keys, search and buttons.

const pointers = new Map();
let moved = 0;

canvas.addEventListener("pointerdown", event => {
  pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
  if (pointers.size === 1) moved = 0;
  canvas.setPointerCapture(event.pointerId);
  canvas.focus();
});
canvas.addEventListener("pointermove", event => {
  const last = pointers.get(event.pointerId);
  if (!last) return;
  const x = event.offsetX, y = event.offsetY;
  moved += Math.abs(x - last.x) + Math.abs(y - last.y);
  if (pointers.size === 1) {
    if (moved > 3) pan(x - last.x, y - last.y);
  } else {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    zoom(Math.hypot(x - other.x, y - other.y) / Math.max(1, Math.hypot(last.x - other.x, last.y - other.y)), other.x, other.y);
  }
  pointers.set(event.pointerId, {x, y});
});
canvas.addEventListener("pointerup", event => {
  if (pointers.size === 1 && moved <= 3) click(event.offsetX, event.offsetY);
  pointers.delete(event.pointerId);
});
canvas.addEventListener("pointercancel", event => pointers.delete(event.pointerId));
/// Inside of another page the wheel is the other page's until the picture was clicked.
canvas.addEventListener("wheel", event => {
  if (parent !== window && !event.ctrlKey && document.activeElement !== canvas) return;
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.offsetX, event.offsetY);
}, {passive: false});

function foldAll() { openAsFirstSeen(scene.graph); select(-1); build(); }
function unfoldAll() { openAll(scene.graph); select(-1); build(); }

const kKeys = {
  ArrowLeft: () => pan(80, 0), ArrowRight: () => pan(-80, 0), ArrowUp: () => pan(0, 80), ArrowDown: () => pan(0, -80),
  "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: fit, f: fit,
  u: unfoldAll, c: foldAll, "/": () => $("find").focus(), Escape: () => select(-1),
  "[": () => go(Math.max(0, at - 1), -1), "]": () => go(Math.min(data.graphs.length - 1, at + 1), -1),
};
addEventListener("keydown", event => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey || !kKeys[event.key]) return;
  event.preventDefault();
  kKeys[event.key]();
});

/// Nodes whose name, op or results' names hold the text; whole names first.
function search(text) {
  const wanted = text.toLowerCase(), {nodes, values} = scene.graph, out = [];
  nodes.forEach((node, n) => {
    const texts = [node.name, node.op, ...node.out.map(v => values[v]?.name)].filter(Boolean).map(t => t.toLowerCase());
    if (texts.some(t => t.includes(wanted))) out.push([texts.includes(wanted) ? 0 : 1, n]);
  });
  return out.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, n]) => n);
}

const kMostFound = 40;
$("find").addEventListener("input", () => {
  const text = $("find").value.trim(), found = text ? search(text) : [];
  light(new Set(found));
  $("found").replaceChildren(...found.slice(0, kMostFound).map(n => el("button", {onclick: () => { $("found").replaceChildren(); go(at, n); canvas.focus(); }},
    el("b", {}, opOf(scene.graph.nodes[n])), " ", nameOf(scene.graph, n))));
  if (text) $("found").append(el("p", {className: "dim"}, found.length > kMostFound ? `${found.length - kMostFound} more` : found.length ? "" : "nothing is named so"));
});
$("find").addEventListener("keydown", event => {
  const buttons = [...$("found").querySelectorAll("button")];
  if (event.key === "Enter") buttons[0]?.click();
  if (event.key === "ArrowDown") buttons[0]?.focus();
  if (event.key === "Escape") { $("find").value = ""; $("found").replaceChildren(); light(new Set()); canvas.focus(); }
});

/// Of an engine with several entries: the graph of that entry that is called as the one that is shown, else its first.
function showEntry(entry) {
  const own = data.graphs.flatMap((graph, g) => graph.entry === entry && graph.inside === undefined ? [g] : []);
  go(own.find(g => data.graphs[g].name === data.graphs[at].name) ?? own[0], -1);
}

function showTabs() {
  const entry = data.graphs[at].entry, entries = [...new Set(data.graphs.map(graph => graph.entry))];
  $("entries").hidden = entries.length < 2;
  $("entry").replaceChildren(...entries.map(name => el("option", {value: name, selected: name === entry}, name)));
  $("tabs").replaceChildren(...data.graphs.flatMap((graph, g) => graph.entry !== entry || (graph.inside !== undefined && g !== at) ? [] :
    [el("button", {ariaPressed: g === at, onclick: () => go(g, -1)}, `${graph.name}`, el("span", {className: "dim"}, ` ${graph.nodes.filter(n => !n.kind).length}`))]));
  const choices = ["family", ...(scene.graph.groups.length ? ["group"] : []), ...(scene.graph.groups.some(g => g.ms > 0) ? ["time"] : [])];
  $("way").replaceChildren(...choices.map(way => el("option", {value: way, selected: way === ways[at]}, {family: "kind of op", group: "fused group", time: "measured time"}[way])));
  $("legend").replaceChildren(...legend(scene.graph, ways[at]));
  $("folding").hidden = !scene.graph.folds.length;
}
$("entry").addEventListener("change", () => showEntry($("entry").value));
$("way").addEventListener("change", () => { ways[at] = scene.way = $("way").value; showTabs(); redraw(); });
$("fit").onclick = fit;
$("unfold").onclick = unfoldAll;
$("fold").onclick = foldAll;

function resize() {
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
}
new ResizeObserver(() => { resize(); redraw(); }).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { showTabs(); redraw(); });

resize();
build();
showTabs();
