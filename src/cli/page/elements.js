// SPDX-License-Identifier: Apache-2.0
// What the pages build their elements with.

const $ = id => document.getElementById(id);

/// An element with children; texts become text nodes, so that names need no escaping.
function el(tag, properties, ...children) {
  const out = Object.assign(document.createElement(tag), properties);
  out.append(...children);
  return out;
}

const link = (text, onclick) => el("button", {className: "link", onclick}, text);
