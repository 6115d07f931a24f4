// The live page of a campaign. Every name comes from the program under test and may be hostile: it
// becomes a text node and nothing else. Snapshots come as server-sent events, each of them whole.

const SVG = "http://www.w3.org/2000/svg";

// What cannot be seen, or changes how the rest is seen, is spelled out.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

function clean(text) {
  const whole = String(text);
  const shown = whole.length > 300 ? whole.slice(0, 300) + "…" : whole;
  return shown.replace(INVISIBLE, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(key, clean(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(clean(child)));
  }
  return node;
}

function number(n) {
  return Math.round(n).toLocaleString("en");
}

// `1 unit`, `2 units`.
function counted(n, what) {
  return `${number(n)} ${what}${n === 1 ? "" : "s"}`;
}

function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 120) return s + " s";
  if (s < 7200) return Math.floor(s / 60) + " min";
  return (s / 3600).toFixed(1) + " h";
}

// Grows to the right; the scale begins at zero.
function chart(id, title, points, unit) {
  const [width, height, left, bottom, top] = [360, 140, 46, 20, 10];
  const last = points[points.length - 1] || [0, 0];
  const most = Math.max(1e-9, ...points.map((p) => p[1]));
  const span = Math.max(1e-9, last[0]);
  const x = (at) => left + (at / span) * (width - left - 8);
  const y = (value) => height - bottom - (value / most) * (height - bottom - top);
  const line = points.map((p, i) => (i ? "L" : "M") + x(p[0]).toFixed(1) + " " + y(p[1]).toFixed(1)).join("");
  const label = most < 10 ? most.toFixed(1) : number(most);
  return el("figure", { class: "chart", id },
    el("figcaption", {}, title, el("b", {}, last[1] < 10 && unit ? last[1].toFixed(1) : number(last[1]))),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title + ": " + number(last[1]) },
      svg("line", { class: "axis", x1: left, y1: height - bottom, x2: width - 8, y2: height - bottom }),
      svg("line", { class: "axis", x1: left, y1: top, x2: left, y2: height - bottom }),
      svg("text", { x: left - 6, y: top + 8, "text-anchor": "end" }, label),
      svg("text", { x: left - 6, y: height - bottom, "text-anchor": "end" }, "0"),
      svg("text", { x: width - 8, y: height - 5, "text-anchor": "end" }, duration(last[0])),
      svg("path", { class: "curve", d: line })));
}

// From totals to what came in a second, smoothed over a few points.
function rates(points) {
  const out = [];
  for (let i = 1; i < points.length; i++) {
    const from = points[Math.max(0, i - 5)];
    const seconds = points[i][0] - from[0];
    if (seconds > 0) out.push([points[i][0], (points[i][1] - from[1]) / seconds]);
  }
  return out;
}

function table(id, heads, rows, empty) {
  const body = rows.length ? rows : [el("tr", {}, el("td", { colspan: heads.length, class: "dim" }, empty))];
  return el("div", { class: "scroll", id },
    el("table", {}, el("thead", {}, el("tr", {}, heads.map((h) => el("th", {}, h)))), el("tbody", {}, body)));
}

function row(...cells) {
  return el("tr", {}, cells.map((cell) => el("td", {}, cell)));
}

function badge(status) {
  const known = ["confirmed", "observed", "predicted", "potential"].includes(status) ? status : "other";
  return el("span", { class: "badge " + known }, status);
}

function card(title, ...content) {
  return el("section", {}, el("h2", {}, title), content);
}

function show(data) {
  const curve = data.curve;
  const series = (member) => curve.map((p) => [p.at, p[member]]);
  const several = data.programs.length > 1;
  const findings = data.findings.map((f) => {
    const name = f.link ? el("a", { href: f.link }, f.name) : f.name;
    return row(duration(f.at), badge(f.status), name, el("code", {}, f.place), several ? data.programs[f.program].name : f.unit);
  });
  const workers = data.workers.map((w) =>
    row(el("code", {}, w.name), w.jobs, number(w.units), w.doing.length ? w.doing.map((d) => el("div", {}, d)) : el("span", { class: "dim" }, "waits")));
  const programs = data.programs.map((p, i) =>
    row(el("a", { href: "/report/" + i }, p.name), p.verdict, number(p.units), number(p.executions), number(p.orders), number(p.findings)));
  const arms = data.arms.map((a) => row(el("code", {}, a.arm), number(a.made), number(a.done)));
  const classes = data.classes.map((c) => row(el("code", {}, c.class), c.findings || "", c.note));
  const given = data.given_up.map((g) => row(el("code", {}, g.unit), g.why));
  const now = [
    el("p", { class: "facts", id: "facts" },
      el("span", { class: "state " + data.state, id: "state" }, data.state), " ",
      `${number(data.units.done)} of ${counted(data.units.made, "unit")}, ${counted(data.executions, "run")}, `,
      `${number(data.orders)} partial orders, ${counted(data.workers.length, "worker")}, ${duration(data.now - data.started)}`,
      data.units.given_up ? `, ${counted(data.units.given_up, "unit")} given up` : "",
      data.units.refused ? `, ${counted(data.units.refused, "result")} refused` : ""),
    el("div", { class: "charts" },
      chart("curve-findings", "Findings ", series("findings")),
      chart("curve-orders", "Partial orders ", series("orders")),
      chart("curve-rate", "Schedules a second ", rates(series("executions")), true)),
    card("Findings", table("findings", ["after", "status", "what", "where", several ? "program" : "unit"], findings, "nothing yet")),
    card("Workers", table("workers", ["worker", "jobs", "units", "does"], workers, "no worker has said anything of late")),
    card("Programs", table("programs", ["program", "verdict so far", "units", "runs", "partial orders", "findings"], programs, "none")),
    card("Classes", el("p", { class: "dim" }, `${number(data.instrumented)} classes of the program and the JDK were instrumented, at most, in a run`),
      table("classes", ["class", "findings", ""], classes, "no class has a finding, and none was left alone")),
    card("Where the work goes", table("arms", ["arm", "units", "done"], arms, "none")),
    given.length ? card("Given up", table("given-up", ["unit", "why"], given, "")) : null,
  ];
  const main = document.querySelector("main");
  // What somebody has scrolled to stays where it is.
  const places = [...main.querySelectorAll(".scroll")].map((e) => [e.id, e.scrollLeft, e.scrollTop]);
  main.replaceChildren(...now.filter((e) => e));
  for (const [id, x, y] of places) {
    const node = document.getElementById(id);
    if (node) node.scrollTo(x, y);
  }
  document.getElementById("name").textContent = clean(data.name);
  document.title = clean(counted(data.findings.length, "finding") + " · " + data.name);
}

const link = document.getElementById("link");
const events = new EventSource("/events");
events.addEventListener("message", (event) => {
  link.textContent = "live";
  link.className = "live";
  show(JSON.parse(event.data));
});
events.addEventListener("error", () => {
  link.textContent = "connection lost; it comes back by itself";
  link.className = "lost";
});
