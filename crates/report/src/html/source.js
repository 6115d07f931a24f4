// Places in the program, and their source if it was found.

function member(frame) {
  return frame.class ? frame.class + "." + (frame.method || "?") : frame.method || "?";
}

function position(frame) {
  if (frame.file && frame.line) return frame.file + ":" + frame.line;
  if (frame.file) return frame.file;
  return frame.bci === undefined ? "" : "bytecode " + frame.bci;
}

function place(frame) {
  const at = position(frame);
  if (!frame.class && !frame.method) return at;
  return member(frame) + (at ? " (" + at + ")" : "");
}

function sourceOf(frame) {
  if (!frame || !frame.file || !frame.line) return null;
  const dot = (frame.class || "").lastIndexOf(".");
  const folder = dot < 0 ? "" : frame.class.slice(0, dot).replaceAll(".", "/") + "/";
  const found = Object.hasOwn(data.sources, folder + frame.file) ? data.sources[folder + frame.file] : null;
  return found && Object.hasOwn(found.lines, frame.line) ? found : null;
}

// The line with some around it. `caret`: what to underline, start and length.
function snippet(frame, options) {
  const { caret = null, around = 3, tone = "" } = options || {};
  const source = sourceOf(frame);
  const path = source ? source.path + ":" + frame.line : position(frame);
  const head = el("div", { class: "path" }, path, frame.method || frame.class ? " in " + member(frame) : "");
  if (!source) return el("div", { class: "snippet" }, head);
  const rows = [];
  for (let n = frame.line - around; n <= frame.line + around; n++) {
    if (!Object.hasOwn(source.lines, n)) continue;
    const here = n === frame.line;
    rows.push(
      el(
        "div",
        { class: here ? "line here " + tone : "line" },
        el("span", { class: "number" }, n),
        el(
          "span",
          { class: "text" },
          here && caret ? marked(source.lines[n], caret) : source.lines[n] || " ",
        ),
      ),
    );
  }
  return el("div", { class: "snippet" }, head, el("div", { class: "code", tabindex: 0 }, rows));
}

// Positions count characters, not UTF-16 units.
function marked(line, [start, length]) {
  const chars = Array.from(line);
  return [
    chars.slice(0, start).join(""),
    el("mark", {}, chars.slice(start, start + length).join("")),
    chars.slice(start + length).join(""),
  ];
}

const JDK = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

function inJdk(frame) {
  const name = frame.class || "";
  return JDK.some((prefix) => name.startsWith(prefix)) || (!frame.file && name.includes("$$Lambda"));
}

// A stack, folded if it is long; frames of the JDK are dimmed.
function stack(frames, label, open) {
  if (!list(frames).length) return null;
  const rows = frames.map((frame) => el("li", { class: inJdk(frame) ? "jdk" : null }, place(frame)));
  return el(
    "details",
    { open: open ? "" : null },
    el("summary", {}, label, " ", el("span", { class: "dim" }, counted(frames.length, "frame"))),
    el("ol", { class: "stack" }, rows),
  );
}
