// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/console/graphviz.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --dim: #667; --line: #d5d8dd; --soft: #f4f5f7; --link: #0b62c4;
  --old: #fbe3dc; --old-line: #c7694b; --new: #d9f0df; --new-line: #3f8f5b; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171a; --ink: #e3e5e8; --dim: #9aa0a8; --line: #383c42; --soft: #1e2125; --link: #79b3ff;
  --old: #4a2a20; --old-line: #d98a6c; --new: #1d3d2a; --new-line: #6cc08a; --bad: #ff8a80; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto; max-width: 1400px; padding: 1.5rem 2rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 0; }
p { margin: .2rem 0; } a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
code { font: .87em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; } .dim { color: var(--dim); }
table { border-collapse: collapse; margin: 1rem 0; } td, th { text-align: left; padding: .15rem 1.2rem .15rem 0; vertical-align: top; }
th { color: var(--dim); font-weight: normal; } td.count { text-align: right; font-variant-numeric: tabular-nums; }
button { font: inherit; color: var(--link); background: none; border: 0; padding: 0; cursor: pointer; text-align: left; }
button[aria-pressed=true] { font-weight: 600; text-decoration: underline; }
section { border-top: 1px solid var(--line); padding: 1.2rem 0; content-visibility: auto; contain-intrinsic-size: auto 500px; }
.tag { font-size: .78rem; color: var(--dim); border: 1px solid var(--line); border-radius: 1rem; padding: 0 .5rem; margin-left: .4rem; font-weight: normal; }
.undone { color: var(--bad); }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; margin-top: .7rem; }
@media (max-width: 800px) { .pair { grid-template-columns: 1fr; } body { padding: 1rem; } }
figure { margin: 0; background: var(--soft); border-radius: .5rem; padding: .6rem .8rem; min-width: 0; }
figcaption { display: flex; justify-content: space-between; gap: 1rem; font-size: .85rem; color: var(--dim); margin-bottom: .4rem; }
.picture { overflow: auto; text-align: center; max-height: 80vh; } pre { margin: 0; overflow: auto; font: 12px/1.5 ui-monospace, monospace; }
svg { max-width: 100%; height: auto; } .picture { cursor: zoom-in; } .picture.full { cursor: zoom-out; } .full svg { max-width: none; }
svg text { fill: var(--ink); } svg .op text:first-of-type { font-weight: 600; } svg .node text + text { font-size: 10px; } svg .edge text { fill: var(--dim); }
svg path { stroke: var(--dim); } svg .edge polygon { fill: var(--dim); stroke: var(--dim); }
svg .in path, svg .out path, svg .in polygon, svg .out polygon { stroke: var(--line); fill: var(--paper); }
svg .context path, svg .context polygon { fill: var(--paper); stroke: var(--dim); }
.old svg .op path, .old svg .op polygon { fill: var(--old); stroke: var(--old-line); }
.new svg .op path, .new svg .op polygon { fill: var(--new); stroke: var(--new-line); }
)";

/// Shows the rewrites of one rule, or all again; a picture in its full size, or as wide as its place.
constexpr std::string_view kScript = R"(
for (const picture of document.querySelectorAll(".picture")) picture.onclick = () => picture.classList.toggle("full");
for (const button of document.querySelectorAll("button")) button.onclick = () => {
  const on = button.getAttribute("aria-pressed") !== "true";
  for (const other of document.querySelectorAll("button")) other.setAttribute("aria-pressed", other === button && on);
  for (const s of document.querySelectorAll("section")) s.hidden = on && s.dataset.rule !== button.dataset.rule;
};
)";

/// The text escaped for an HTML attribute value.
std::string in_quotes(std::string_view text) {
  std::string out;
  for (const char c : escape_html(text)) out += c == '"' ? std::string("&quot;") : std::string(1, c);
  return out;
}

/// Without every part that starts with `open` and ends with `close`.
std::string without(std::string_view text, std::string_view open, std::string_view close) {
  std::string out;
  for (;;) {
    const size_t begin = text.find(open);
    const size_t end = begin == text.npos ? text.npos : text.find(close, begin + open.size());
    out += text.substr(0, end == text.npos ? text.npos : begin);
    if (end == text.npos) return out;
    text.remove_prefix(end + close.size());
  }
}

/// Without what would be on the page twice or say nothing: ids, titles, comments.
std::string cleaned(std::string_view svg) {
  return without(without(without(svg, "<title>", "</title>\n"), "<!--", "-->\n"), " id=\"", "\"");
}

std::string side_text(const DumpSide& side, std::string_view kind, std::string_view caption) {
  const std::string link = side.file.empty() ? "no ONNX: " + escape_html(side.no_file_reason)
                                             : fmt::format("<a href=\"{}\" download>ONNX</a>", in_quotes(side.file));
  const std::string body = side.svg.empty() ? "<pre>" + escape_html(side.text) + "</pre>" : cleaned(side.svg);
  return fmt::format(
      "<figure class=\"{}\"><figcaption><span>{}, {} node{}</span><span>{}</span></figcaption><div class=\"picture\">{}</div></figure>\n",
      kind, caption, side.nodes, side.nodes == 1 ? "" : "s", link, body);
}

std::string rewrite_text(const DumpedRewrite& r, size_t place) {
  std::string tags = "<span class=\"tag\">" + escape_html(r.numerics) + "</span>";
  if (!r.sets.empty()) tags += "<span class=\"tag\">" + escape_html(r.sets) + "</span>";
  const std::string id = r.number > 0 ? std::to_string(r.number) : fmt::format("undone-{}", place);
  std::string out = fmt::format("<section id=\"{0}\" data-rule=\"{1}\"><h2><a href=\"#{0}\">{2}</a> {3}{4}</h2>\n", id, in_quotes(r.rule),
                                r.number > 0 ? id : "undone:", escape_html(r.rule), tags);
  if (!r.docs.empty()) out += "<p>" + escape_html(r.docs) + "</p>\n";
  if (!r.undone.empty()) out += "<p class=\"undone\">" + escape_html(r.undone) + "</p>\n";
  std::string nodes;
  for (const std::string& node : r.nodes) nodes += (nodes.empty() ? "" : ", ") + ("<code>" + escape_html(node) + "</code>");
  out += "<p class=\"dim\">matched " + nodes + "</p>\n";
  return out + "<div class=\"pair\">" + side_text(r.before, "old", "before") + side_text(r.after, "new", "after") + "</div></section>\n";
}

std::string rules_table(std::span<const DumpedRewrite> rewrites) {
  struct Row {
    int64_t count = 0;
    std::string docs;
  };
  std::map<std::string, Row> rules;
  for (const DumpedRewrite& r : rewrites) {
    ++rules[r.rule].count;
    rules[r.rule].docs = r.docs;
  }
  std::vector<std::pair<std::string, Row>> rows(rules.begin(), rules.end());
  std::ranges::sort(rows, {}, [](const auto& row) { return std::pair(-row.second.count, row.first); });
  std::string out = "<table><tr><th>rewrites</th><th>rule</th><th></th></tr>\n";
  for (const auto& [rule, row] : rows)
    out +=
        fmt::format("<tr><td class=\"count\">{}</td><td><button data-rule=\"{}\" aria-pressed=\"false\">{}</button></td><td>{}</td></tr>\n",
                    row.count, in_quotes(rule), escape_html(rule), escape_html(row.docs));
  return rewrites.empty() ? "<p>No rewrite was done.</p>\n" : out + "</table>\n";
}

}  // namespace

std::string rewrite_page(const std::string& title, const std::vector<std::string>& headline, std::span<const DumpedRewrite> rewrites) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
      "<title>{0}</title>\n<style>{1}</style></head>\n<body><h1>{0}</h1>\n",
      escape_html(title), kStyle);
  for (const std::string& line : headline) out += "<p>" + escape_html(line) + "</p>\n";
  out += rules_table(rewrites);
  for (size_t i = 0; i < rewrites.size(); ++i) out += rewrite_text(rewrites[i], i);
  return out + fmt::format("<script>{}</script>\n</body></html>\n", kScript);
}

}  // namespace tenon::cli
