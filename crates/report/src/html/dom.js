// Building the page. Text from the report becomes text nodes and nothing else.

const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report;

// What cannot be seen, or changes how the rest is seen, is spelled out.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const LONGEST = 600;

function clean(text) {
  const whole = String(text);
  const shown = whole.length > LONGEST ? whole.slice(0, LONGEST) + "…" : whole;
  return shown.replace(INVISIBLE, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

// An element with attributes and children; what is null or false is left out.
// Attributes that start with "on" are listeners.
function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, clean(value));
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(clean(child)));
  }
}

function counted(n, one, many) {
  return n + " " + (n === 1 ? one : many || one + "s");
}

function list(value) {
  return Array.isArray(value) ? value : [];
}

function badge(kind, text, title) {
  return el("span", { class: "badge " + kind, title }, text);
}

// A command to paste into a shell, with a button that copies it.
function command(text) {
  const code = el("code", {}, text);
  const button = el("button", { class: "copy", type: "button", title: "copy the command" }, "copy");
  button.addEventListener("click", () => {
    copy(code).then(
      () => (button.textContent = "copied"),
      () => (button.textContent = "press Ctrl-C"),
    );
    setTimeout(() => (button.textContent = "copy"), 2000);
  });
  return el("div", { class: "command" }, code, button);
}

async function copy(node) {
  // If the clipboard is out of reach, the text is at least selected.
  const range = document.createRange();
  range.selectNodeContents(node);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  if (navigator.clipboard) return navigator.clipboard.writeText(node.textContent);
  if (!document.execCommand("copy")) throw new Error("no clipboard");
}

// Lines of a unified diff.
function diff(text) {
  const kind = (line) => {
    if (line.startsWith("+++") || line.startsWith("---")) return "file";
    if (line.startsWith("@@")) return "hunk";
    return line[0] === "+" ? "added" : line[0] === "-" ? "removed" : "same";
  };
  const lines = String(text).replace(/\n$/, "").split("\n");
  const rows = lines.map((line) => el("div", { class: kind(line) }, line.replace(/\t/g, "    ") || " "));
  return el("div", { class: "code diff", tabindex: 0 }, rows);
}
