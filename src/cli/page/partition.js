// SPDX-License-Identifier: Apache-2.0
// The page: which graph is shown (the model's, or a body's), which segment is chosen, which table is open.

const data = JSON.parse($("data").textContent), lanes = data.backends;
const path = [{name: "model", partition: data.partition}];  // the graph that is shown, after those around it
let chosen = -1, tab = "overview";

const hueOf = backend => `--hue:${(210 + lanes.indexOf(backend) * 137.508) % 360}`;
const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const usText = us => us === 0 ? "0" : us < 1e3 ? `${us.toPrecision(3)} \u00b5s` : us < 1e6 ? `${(us / 1e3).toPrecision(3)} ms` : `${(us / 1e6).toPrecision(3)} s`;
const bytesText = n => n < 1e4 ? `${n} B` : n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;

/// " at batch = 64": the sizes that guesses of times take for symbols.
const guessedAt = (sizes => sizes.length ? ` at ${sizes.map(([name, size]) => `${name} = ${size}`).join(", ")}` : "")(Object.entries(data.partition.guessed_at ?? {}));

const shown = () => path.at(-1).partition;
const go = {
  segment: id => { chosen = id; tab = "segment"; report(); },
  body: (node, k) => { path.push({name: `${node.name}, body ${k}`, partition: node.bodies[k]}); open(); },
};

function figures(partition) {
  const bytes = partition.borders.reduce((sum, b) => sum + (b.bytes ?? 0), 0), copies = partition.borders.reduce((sum, b) => sum + b.copies, 0);
  const figure = (value, text) => el("span", {}, el("b", {}, value), ` ${text}`);
  const count = partition.segments.length;
  const least = `at least ${partition.lower_bound} needed`;
  const out = [figure(counted(count, "segment"), partition.proved ? "proved fewest" : least),
    figure(partition.borders.length, `values cross${bytes ? `, ${bytesText(bytes)}` : ""}, ${counted(copies, "copy").replace("copys", "copies")}`),
    figure(`${(100 * partition.accelerated_share).toFixed(1)} %`, "of the work's nodes accelerated")];
  if (partition.peak_bytes) out.push(figure(bytesText(partition.peak_bytes), "at most in use"));
  if (partition.handed_back?.length) out.push(figure(partition.handed_back.length, "handed back"));
  return out;
}

function report() {
  const partition = shown();
  const tabs = {overview: "overview", nodes: `nodes ${partition.nodes.length}`, borders: `borders ${partition.borders.length}`, ...(chosen < 0 ? {} : {segment: `segment ${chosen}`})};
  $("tabs").replaceChildren(...Object.entries(tabs).map(([name, text]) => el("button", {ariaPressed: name === tab, onclick: () => { tab = name; report(); }}, text)));
  const parts = {overview: () => overview(partition), nodes: () => nodesTable(partition.nodes, go), borders: () => bordersTable(partition.borders, go), segment: () => segmentPanel(partition, chosen, go)};
  $("details").replaceChildren(...parts[tab]());
  mark($("picture"), chosen);
}

/// Shows the last graph of the path.
function open() {
  chosen = -1;
  tab = "overview";
  $("place").replaceChildren(...(path.length === 1 ? [] : path.flatMap((at, k) => [k ? " \u203a " : "", link(at.name, () => { path.length = k + 1; open(); })])));
  $("figures").replaceChildren(...figures(shown()));
  $("picture").replaceChildren(...pictureOf(shown(), go.segment));
  report();
}

const step = by => { const last = shown().segments.length - 1; if (last >= 0) go.segment(Math.min(Math.max(chosen + by, 0), last)); };
const kKeys = {ArrowDown: () => step(1), ArrowUp: () => step(-1), Escape: () => { chosen = -1; tab = "overview"; report(); }};
addEventListener("keydown", event => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey || !kKeys[event.key]) return;
  event.preventDefault();
  kKeys[event.key]();
});
open();
