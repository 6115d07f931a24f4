// A schedule to step through: one column a thread, one row a step, time goes
// down. Only the rows in view are drawn, so long schedules stay quick.

const GUTTER = 46;
const NARROWEST = 96;
const WIDEST = 240;
const HEIGHTS = [6, 10, 16, 24, 32, 44];
const LABELS_FROM = 16;
const ORDERS = {
  start: "a thread is started",
  lock: "the lock was taken before",
  volatile: "the value was written before",
};

class Timeline {
  // `accesses`: the two of the race that it shows, to colour them alike.
  constructor(schedule, accesses) {
    this.accesses = accesses;
    this.schedule = schedule;
    this.rows = schedule.rows;
    this.lanes = schedule.lanes;
    this.zoom = this.rows.length > 400 ? 2 : 3;
    this.meetings = this.rows.flatMap((row, at) => (row.beside ? [at] : []));
    this.at = this.meetings.length ? this.meetings.at(-1) : Math.max(0, this.rows.length - 1);
    this.spans = this.lanes.map(() => [Infinity, -1]);
    this.rows.forEach((row, at) => {
      for (const lane of [row.lane, row.beside && row.beside.lane]) {
        if (!this.spans[lane]) continue;
        this.spans[lane][0] = Math.min(this.spans[lane][0], at);
        this.spans[lane][1] = Math.max(this.spans[lane][1], at);
      }
    });
    this.build();
  }

  build() {
    const button = (label, title, act) => el("button", { type: "button", title, onclick: act }, label);
    this.counter = el("span", { class: "counter" });
    this.titles = el("div", { class: "titles" });
    this.picture = svg("svg", { class: "picture", role: "img", "aria-label": "steps of the threads" });
    this.view = el(
      "div",
      { class: "view", tabindex: 0, role: "group", "aria-label": "timeline; arrow keys step, + and - zoom" },
      this.titles,
      this.picture,
    );
    this.details = el("div", { class: "moment", "aria-live": "polite" });
    const used = new Set(this.schedule.edges.map((edge) => edge.order));
    const legend = Object.keys(ORDERS).filter((order) => used.has(order));
    this.node = el(
      "div",
      { class: "timeline" },
      el(
        "div",
        { class: "tools" },
        button("|◀", "first step (Home)", () => this.go(0)),
        button("◀", "step back (k, ← or ↑)", () => this.go(this.at - 1)),
        button("▶", "step (j, → or ↓)", () => this.go(this.at + 1)),
        button("▶|", "last step (End)", () => this.go(this.rows.length - 1)),
        this.meetings.length ? button("race", "where the two meet (r)", () => this.meet()) : null,
        this.counter,
        el("span", { class: "space" }),
        button("−", "smaller (-)", () => this.scale(-1)),
        button("+", "larger (+)", () => this.scale(1)),
      ),
      el("div", { class: "beside" }, this.view, this.details),
      el(
        "p",
        { class: "legend" },
        legend.map((order) => el("span", { class: "key " + order }, "→ " + order)),
        legend.length ? "Arrows: happens-before as far as the schedule proves it. " : null,
        this.schedule.strategy
          ? "A row is a scheduling decision; what a thread does while no other thread could run has none."
          : "The order that a checker accepted. A row stands for several events of a thread; its last is named.",
      ),
    );
    this.view.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()));
    this.picture.addEventListener("click", (event) => {
      const y = event.clientY - this.picture.getBoundingClientRect().top;
      this.go(Math.floor(y / this.height));
      this.view.focus({ preventScroll: true });
    });
    this.view.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key in steps) this.go(this.at + steps[event.key]);
      else if (event.key === "Home") this.go(0);
      else if (event.key === "End") this.go(this.rows.length - 1);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => this.draw()).observe(this.view);
  }

  // Keys that work wherever the focus is. True if it was one.
  key(key) {
    if (key === "j" || key === "ArrowRight") this.go(this.at + 1);
    else if (key === "k" || key === "ArrowLeft") this.go(this.at - 1);
    else if (key === "r" && this.meetings.length) this.meet();
    else if (key === "+" || key === "=") this.scale(1);
    else if (key === "-") this.scale(-1);
    else return false;
    return true;
  }

  get height() {
    return HEIGHTS[this.zoom];
  }

  scale(by) {
    this.zoom = Math.min(HEIGHTS.length - 1, Math.max(0, this.zoom + by));
    this.show();
  }

  // To the next meeting, from the last to the first.
  meet() {
    const next = this.meetings.find((row) => row > this.at);
    this.go(next === undefined ? this.meetings[0] : next);
  }

  go(row) {
    this.at = Math.min(this.rows.length - 1, Math.max(0, row));
    this.show();
  }

  // Brings the current row into view and says what it is.
  show() {
    const top = this.at * this.height;
    const room = this.view.clientHeight - this.titles.offsetHeight;
    this.resize();
    if (top < this.view.scrollTop || top + this.height > this.view.scrollTop + room) {
      this.view.scrollTop = Math.max(0, top - room / 2);
    }
    this.draw();
    this.describe();
  }

  resize() {
    const width = this.view.clientWidth - GUTTER - 2;
    const count = Math.max(1, this.lanes.length);
    this.lane = Math.min(WIDEST, Math.max(NARROWEST, Math.floor(width / count)));
    this.picture.setAttribute("width", GUTTER + this.lane * count);
    this.picture.setAttribute("height", this.rows.length * this.height + 4);
  }

  x(lane) {
    return GUTTER + lane * this.lane + 14;
  }

  y(row) {
    return row * this.height + this.height / 2;
  }

  draw() {
    if (!this.view.clientWidth) return;
    this.resize();
    this.titles.replaceChildren(
      ...this.lanes.map((lane) => {
        const title = el("span", { class: "lane", title: lane.name }, lane.name || "thread " + lane.thread);
        title.style.width = this.lane + "px";
        return title;
      }),
    );
    this.titles.style.paddingLeft = GUTTER + "px";
    this.titles.style.width = GUTTER + this.lane * this.lanes.length + "px";
    const first = Math.max(0, Math.floor(this.view.scrollTop / this.height) - 2);
    const shown = Math.ceil(this.view.clientHeight / this.height) + 4;
    const last = Math.min(this.rows.length - 1, first + shown);
    this.picture.replaceChildren(
      svg("rect", { class: "current", x: 0, y: this.at * this.height, width: "100%", height: this.height }),
      ...this.lanes.map((_, lane) => this.life(lane, first, last)),
      ...this.turns(first, last),
      ...this.schedule.edges.filter((e) => e.to >= first && e.from <= last).map((e) => this.edge(e)),
      ...this.rows.slice(first, last + 1).map((row, at) => this.row(row, first + at)),
    );
  }

  // The lane of a thread, from its first step to its last.
  life(lane, first, last) {
    const [begin, end] = this.spans[lane];
    const [from, to] = [Math.max(begin, first), Math.min(end, last)];
    if (from > to) return svg("g");
    const x = this.x(lane);
    return svg("line", { class: "life", x1: x, x2: x, y1: this.y(from), y2: this.y(to) });
  }

  // Who goes on after whom.
  turns(first, last) {
    const lines = [];
    let before = null;
    for (let at = Math.max(0, first - 1); at <= Math.min(last + 1, this.rows.length - 1); at++) {
      const lane = this.rows[at].lane;
      if (lane === undefined) continue;
      if (before !== null) {
        const [x1, y1, x2, y2] = [this.x(before[0]), this.y(before[1]), this.x(lane), this.y(at)];
        const same = before[0] === lane;
        lines.push(svg("line", { class: same ? "runs" : "turn", x1, y1, x2, y2 }));
      }
      before = [lane, at];
    }
    return lines;
  }

  edge({ from, to, order }) {
    const [a, b] = [this.rows[from], this.rows[to]];
    if (a.lane === undefined || b.lane === undefined) return svg("g");
    const [x1, y1, x2, y2] = [this.x(a.lane), this.y(from), this.x(b.lane), this.y(to)];
    const bend = Math.min(60, (y2 - y1) / 2 + 8);
    const side = x2 > x1 ? 1 : -1;
    const tip = x2 - side * 7;
    const live = this.at === from || this.at === to;
    return svg(
      "g",
      { class: "edge " + order + (live ? " live" : "") },
      svg("title", {}, order + ": " + ORDERS[order]),
      svg("path", { d: `M${x1},${y1} C${x1},${y1 + bend} ${x2 - side * 40},${y2} ${tip},${y2}` }),
      svg("path", { class: "head", d: `M${x2 - side * 5},${y2} l${-side * 7},-4 l0,8 z` }),
    );
  }

  row(row, at) {
    const y = this.y(at);
    const labels = this.height >= LABELS_FROM;
    const current = at === this.at ? " now" : "";
    if (row.lane === undefined) {
      const note = labels ? svg("text", { class: "note", x: GUTTER, y: y + 4 }, row.what) : null;
      return svg("g", { class: "row" + current }, note);
    }
    const number = labels && row.step !== undefined;
    const race = row.beside;
    return svg(
      "g",
      { class: "row" + (race ? " race" : "") + current },
      number ? svg("text", { class: "step", x: GUTTER - 12, y: y + 4 }, row.step) : null,
      race ? svg("line", { class: "meet", x1: this.x(row.lane), x2: this.x(race.lane), y1: y, y2: y }) : null,
      this.dot(row, at, labels, false),
      race ? this.dot(race, at, labels, true) : null,
    );
  }

  dot(what, at, labels, waiting) {
    const [x, y] = [this.x(what.lane), this.y(at)];
    const tone = this.rows[at].beside ? this.tone(what, waiting) : "";
    const most = Math.max(4, Math.floor((this.lane - 30) / 6.7));
    const many = what.many ? " (" + what.many + ")" : "";
    const text = (what.many && what.what.endsWith(" steps") ? what.what : what.what + many) || "?";
    const short = text.length > most ? text.slice(0, most - 1) + "…" : text;
    const size = this.height < LABELS_FROM ? 3 : 4.5;
    return svg(
      "g",
      { class: (waiting ? "waiting " : "made ") + tone },
      svg("title", {}, text),
      what.many
        ? svg("rect", { class: "dot", x: x - size, y: y - size, width: 2 * size, height: 2 * size })
        : svg("circle", { class: "dot", cx: x, cy: y, r: size }),
      labels ? svg("text", { class: "label", x: x + 10, y: y + 4 }, short) : null,
    );
  }

  // Which of the race's accesses this is, as a class.
  tone(what, otherwise) {
    const at = this.placeOf(what) || {};
    const is = ({ op, file, line }) => file === at.file && line === at.line && what.what.startsWith(op);
    const index = this.accesses.findIndex(is);
    return (index < 0 ? otherwise : index > 0) ? "second" : "first";
  }

  thread(lane) {
    const { thread, name } = this.lanes[lane] || {};
    return name ? `thread "${name}"` : "thread " + thread;
  }

  placeOf(what) {
    return what.place === undefined ? null : this.schedule.places[what.place];
  }

  describe() {
    const row = this.rows[this.at];
    this.counter.textContent = this.rows.length ? `row ${this.at + 1} of ${this.rows.length}` : "no steps";
    if (!row) return this.details.replaceChildren();
    const step = row.step === undefined ? "" : "step " + row.step + ": ";
    const parts = [el("h4", {}, step, row.what)];
    if (row.lane !== undefined)
      parts.push(el("p", {}, this.thread(row.lane), row.beside ? " goes first" : ""));
    const at = this.placeOf(row);
    if (at) parts.push(snippet(at, { around: 2, tone: row.beside ? this.tone(row, false) : "" }));
    if (row.beside) {
      parts.push(
        el("p", {}, this.thread(row.beside.lane), " stands ready to do this: ", el("b", {}, row.beside.what)),
      );
      const other = this.placeOf(row.beside);
      if (other) parts.push(snippet(other, { around: 2, tone: this.tone(row.beside, true) }));
    }
    const orders = this.schedule.edges.filter((e) => e.from === this.at || e.to === this.at).slice(0, 8);
    const sentence = ({ from, to, order }) => {
      const other = from === this.at ? to : from;
      const { step, lane, what } = this.rows[other];
      const text = `${from === this.at ? "before" : "after"} step ${step}, ${what} by ${this.thread(lane)} (${order})`;
      return el(
        "li",
        {},
        el("button", { class: "jump", type: "button", onclick: () => this.go(other) }, text),
      );
    };
    if (orders.length)
      parts.push(el("p", { class: "dim" }, "happens"), el("ul", { class: "orders" }, orders.map(sentence)));
    this.details.replaceChildren(...parts);
  }
}
