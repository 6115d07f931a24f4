// The page: what was found on the left, one of it on the right.

const STRENGTH = ["confirmed", "observed", "predicted", "potential"];

function findings() {
  const all = [];
  const add = (kind, group, items, title, render) => {
    for (const it of list(items))
      all.push({ id: it.id || it.name, it, kind, group: group(it), title: title(it), render });
  };
  const races = list(report.races).slice();
  // The strongest first; R2 before R10.
  const number = (race) => Number((race.id || "").slice(1)) || Infinity;
  const strength = (race) => STRENGTH.indexOf(race.status);
  races.sort((a, b) => strength(a) - strength(b) || number(a) - number(b));
  const holds = (property) => Number(property.status === "holds");
  const properties = list(report.properties)
    .slice()
    .sort((a, b) => holds(a) - holds(b));
  add("race", (it) => it.status + " races", races, locationOf, raceDetail);
  add(
    "deadlock",
    () => "deadlocks and livelocks",
    report.deadlocks,
    (it) =>
      it.kind +
      " of " +
      list(it.threads)
        .map((t) => t.thread)
        .join(", "),
    deadlockDetail,
  );
  add(
    "exception",
    () => "uncaught exceptions",
    report.failures,
    (it) => it.exception,
    failureDetail,
  );
  add(
    "atomicity",
    () => "violations of atomicity",
    report.atomicity,
    (it) => it.unit,
    atomicityDetail,
  );
  add(
    "property",
    (it) => (it.status === "holds" ? "properties that hold" : "broken properties"),
    properties,
    (it) => it.name,
    propertyDetail,
  );
  // A schedule that no finding is known by: a replay, above all.
  const ids = all.flatMap(({ id, it }) => [id, ...list((it.group || {}).members).map((one) => one.id)]);
  const known = (name) => ids.some((id) => name === id || name.startsWith(id + "."));
  const alone = Object.keys(data.schedules)
    .filter((name) => !known(name))
    .map((name) => ({ id: name }));
  add(
    "schedule",
    () => "schedules",
    alone,
    (it) => it.id,
    scheduleDetail,
  );
  for (const one of all) one.words = words(one);
  all.push({
    id: "coverage",
    it: {},
    kind: "coverage",
    group: "the rest",
    title: "what was covered",
    words: "coverage",
    render: coverageDetail,
  });
  return all;
}

// What the filter looks at.
function words({ id, it, title }) {
  const places = list(it.accesses)
    .concat(list(it.stack))
    .map((frame) => [place(frame), frame.thread]);
  const threads = list(it.threads).map((thread) => thread.thread);
  return [id, title, it.status, it.harm, places, threads].flat(Infinity).join(" ").toLowerCase();
}

function scheduleDetail(it, timelines) {
  return [el("h2", {}, "schedule ", el("code", {}, it.id)), schedules(it.id, timelines)];
}

// What runs under a budget looked at.
function watched(sampling) {
  if (!sampling) return null;
  const percent = (share) => (typeof share === "number" ? `${Number((100 * share).toPrecision(3))} %` : "an unknown share");
  const cost = typeof sampling.cost_percent === "number" ? Number(sampling.cost_percent.toPrecision(3)) : "unknown";
  return (
    `${percent(sampling.sampled_share)} of the accesses recorded, ${percent(sampling.compared_share)} compared; ` +
    `cost ${cost} % of ${sampling.budget_percent} %`
  );
}

function coverageDetail() {
  const coverage = report.coverage || {};
  const table = (heads, rows) =>
    el(
      "div",
      { class: "wide" },
      el(
        "table",
        {},
        el(
          "tr",
          {},
          heads.map((h) => el("th", {}, h)),
        ),
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell) => el("td", {}, cell)),
          ),
        ),
      ),
    );
  const known = (value) => (value === undefined || value === null ? "" : value);
  const runs = list(report.runs).map((run, at) => [
    at + 1,
    run.ended,
    known(run.exit),
    known(run.scheduler),
    known(run.seed),
    known(run.steps),
    run.races,
    run.seconds.toFixed(1),
    run.jvm ? `${run.jvm.command} (process ${run.jvm.pid})` : "",
  ]);
  const engines = list(report.engines).map((e) => [
    e.engine,
    e.pairs,
    e.observed,
    e.predicted,
    e.potential,
    e.complete ? "yes" : "no",
  ]);
  const skipped = list(coverage.classes_skipped).map((s) => [
    s.class + (s.method ? "." + s.method : ""),
    s.why,
  ]);
  const stages = list((report.hunt || {}).stages).map((s) => [s.stage, s.seconds.toFixed(1), known(s.note)]);
  const suppressed = list(report.suppressed).map((s) => [s.id, s.location, s.status, s.reason]);
  const gone = list((report.baseline || {}).gone).map((g) => [g.location, g.status, g.fingerprint]);
  return [
    el("h2", {}, "What was covered"),
    facts([
      ["command", report.command],
      ["program", (report.program.exec ? "" : "java ") + list(report.program.args).join(" ")],
      ["exit code", known(report.program.exit)],
      ["classes instrumented", coverage.classes_instrumented],
      ["threads", coverage.threads],
      ["events", coverage.events],
      ["watched within the budget", watched(coverage.sampling)],
      ["seconds", report.timing ? report.timing.total_s.toFixed(1) : null],
      ["written by", report.tool],
    ]),
    section(
      "Where the tool was not in control",
      list(report.warnings).length
        ? el(
            "ul",
            {},
            report.warnings.map((text) => el("li", {}, text)),
          )
        : null,
    ),
    section(
      "Ways of ordering threads that it has no model for",
      list(coverage.missing_models).length
        ? el(
            "ul",
            {},
            coverage.missing_models.map((text) => el("li", {}, text)),
          )
        : null,
    ),
    section(
      "Classes watched within the budget",
      coverage.sampling
        ? table(
            ["class", "statements", "executed while watched"],
            list(coverage.sampling.classes).map((c) => [c.class, c.statements, c.sampled]),
          )
        : null,
    ),
    section("Exploration of all schedules", exploration(report.exploration)),
    section(
      "Runs",
      runs.length
        ? table(["run", "ended", "exit", "scheduler", "seed", "steps", "races", "seconds", "JVM"], runs)
        : null,
    ),
    section(
      "Engines",
      engines.length
        ? table(["engine", "pairs", "observed", "predicted", "potential", "complete"], engines)
        : null,
    ),
    section("Repairs", repairs(report.repairs)),
    section("Stages of the hunt", stages.length ? table(["stage", "seconds", "what it did"], stages) : null),
    section(
      "Suppressed",
      suppressed.length ? table(["race", "location", "status", "reason"], suppressed) : null,
    ),
    section("Not found this time", gone.length ? table(["location", "status", "fingerprint"], gone) : null),
    section("Not instrumented", skipped.length ? table(["class or method", "why"], skipped) : null),
  ];
}

// How much of all schedules was explored; complete is a word with a meaning.
function exploration(told) {
  if (!told) return null;
  const whole = told.complete
    ? "Complete: every schedule of this program on this input was explored."
    : "Not complete: there may be more in other schedules.";
  const shown = ["executions", "classes", "rounds", "max_depth", "lost", "preemptions", "estimate"];
  const named = shown.map((key) => [key.replaceAll("_", " "), told[key]]);
  return [
    el("p", {}, whole),
    list(told.not_complete).length
      ? el(
          "ul",
          {},
          told.not_complete.map((text) => el("li", {}, text)),
        )
      : null,
    facts(named),
    ...weakExploration(told.weak),
  ];
}

// The second exploration of verify --memory weak: a verdict of its own.
function weakExploration(weak) {
  if (!weak) return [];
  const whole = weak.complete
    ? "With older values: complete, every class of executions and of the writes that reads see was explored."
    : "With older values: not complete.";
  const reasons = list(weak.not_complete).map((text) => el("li", {}, text));
  const found = list(weak.findings).map((one) =>
    el(
      "li",
      {},
      `${one.id}: ${one.detail}`,
      ...list(one.memory).map((read) => el("p", {}, `"${read.thread}" reads ${read.value}, not ${read.newest}: ${read.why}`)),
      one.replay ? el("p", {}, el("code", {}, one.replay.command)) : null,
    ),
  );
  return [
    el("p", {}, whole),
    reasons.length ? el("ul", {}, reasons) : null,
    found.length ? el("ul", {}, found) : null,
    facts(["executions", "classes", "rounds"].map((key) => [key, weak[key]])),
  ];
}

class Page {
  constructor() {
    this.all = findings();
    this.hidden = new Set();
    this.timelines = { current: null };
    this.items = el("div", { class: "items" });
    this.detail = el("main", { class: "detail", tabindex: -1 });
    this.filter = el("input", {
      type: "search",
      placeholder: "filter (/)",
      "aria-label": "filter",
      oninput: () => this.listItems(),
    });
    document.body.append(
      this.header(),
      el(
        "div",
        { class: "columns" },
        el("nav", { "aria-label": "findings" }, this.filter, this.chips(), this.items),
        this.detail,
      ),
    );
    addEventListener("hashchange", () => this.open());
    addEventListener("keydown", (event) => this.key(event));
    this.listItems();
    this.open();
  }

  header() {
    const count = (kind, word) => {
      const n = this.all.filter((one) => one.kind === kind && one.it.status !== "holds").length;
      return n ? counted(n, word) : null;
    };
    const parts = [
      count("race", "race"),
      count("deadlock", "deadlock"),
      count("exception", "uncaught exception"),
      count("atomicity", "violation") && count("atomicity", "violation") + " of atomicity",
      count("property", "broken property"),
    ];
    const found = parts.filter((part) => part).join(", ");
    const theme = el("button", { type: "button", class: "theme", title: "light or dark" });
    const set = (name) => {
      if (name === "auto") document.documentElement.removeAttribute("data-theme");
      else document.documentElement.setAttribute("data-theme", name);
      theme.textContent = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" }[name];
      theme.onclick = () => {
        const next = { auto: "light", light: "dark", dark: "auto" }[name];
        // Where nothing can be kept it holds for this visit.
        try {
          localStorage.setItem("photofinish-theme", next);
        } catch {
          /* nothing to do */
        }
        set(next);
      };
    };
    let kept = null;
    try {
      kept = localStorage.getItem("photofinish-theme");
    } catch {
      /* as above */
    }
    set(["light", "dark"].includes(kept) ? kept : "auto");
    const warnings = list(report.warnings).length;
    return el(
      "header",
      {},
      el("h1", {}, "Photofinish"),
      el(
        "p",
        { class: "verdict" },
        found || ((report.exploration || {}).complete ? "nothing found in any schedule" : "nothing found"),
        warnings ? [" · ", el("a", { href: "#coverage" }, counted(warnings, "warning"))] : null,
      ),
      el("code", { class: "program" }, "java " + list(report.program.args).join(" ")),
      theme,
    );
  }

  // One a status and harm that occurs; pressed means shown.
  chips() {
    const of = (key) => [...new Set(this.all.map((one) => one.it[key]).filter((value) => value))];
    const known = STRENGTH.concat(["harmful", "changes-output", "harmless", "unknown"]);
    const values = [...of("status"), ...of("harm")].filter((value) => known.includes(value));
    values.sort((a, b) => known.indexOf(a) - known.indexOf(b));
    const chips = values.map((value) => {
      const n = this.all.filter((one) => one.it.status === value || one.it.harm === value).length;
      const chip = el(
        "button",
        {
          type: "button",
          class: "chip " + value,
          "aria-pressed": "true",
          title: STATUSES[value] || HARMS[value],
        },
        `${value} ${n}`,
      );
      chip.addEventListener("click", () => {
        const shown = this.hidden.has(value);
        if (shown) this.hidden.delete(value);
        else this.hidden.add(value);
        chip.setAttribute("aria-pressed", String(shown));
        this.listItems();
      });
      return chip;
    });
    return el("div", { class: "chips" }, chips);
  }

  listItems() {
    const wanted = this.filter.value.toLowerCase().split(/\s+/);
    const fits = ({ it, words }) =>
      !this.hidden.has(it.status) &&
      !this.hidden.has(it.harm) &&
      wanted.every((word) => words.includes(word));
    this.shown = this.all.filter((one) => one.kind === "coverage" || fits(one));
    const nodes = [];
    let group = null;
    for (const one of this.shown) {
      if (one.group !== group) nodes.push(el("h2", { class: "group" }, one.group));
      group = one.group;
      const ends = list(one.it.accesses)
        .slice(0, 2)
        .map(position)
        .filter((at) => at)
        .join(" ↔ ");
      const item = el(
        "a",
        { class: "item " + one.kind, href: "#" + encodeURIComponent(one.id), "data-id": one.id },
        el(
          "span",
          { class: "title" },
          ["coverage", "schedule", "property"].includes(one.kind)
            ? null
            : el("span", { class: "id" }, one.id),
          " ",
          one.title,
        ),
        el(
          "span",
          { class: "line2" },
          one.kind === "race" ? badges(one.it) : null,
          ends ? el("span", { class: "dim" }, ends) : null,
        ),
      );
      nodes.push(item);
    }
    if (this.shown.length === 1 && this.all.length > 1)
      nodes.unshift(el("p", { class: "dim" }, "nothing fits the filter"));
    if (this.all.length === 1)
      nodes.unshift(
        el("p", { class: "dim" }, "Nothing was found. What was covered says how much that means."),
      );
    this.items.replaceChildren(...nodes);
    this.mark();
  }

  mark() {
    for (const item of this.items.querySelectorAll(".item")) {
      if (this.current && item.dataset.id === clean(this.current.id))
        item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }
  }

  open() {
    let id = "";
    try {
      id = decodeURIComponent(location.hash.slice(1));
    } catch {
      /* then it names nothing */
    }
    const asked = this.all.find((one) => one.id === id);
    this.current = asked || this.all[0];
    this.timelines.current = null;
    document.title = `${this.current.id} – Photofinish`;
    this.detail.replaceChildren();
    append(this.detail, [this.current.render(this.current.it, this.timelines)]);
    this.detail.append(
      el(
        "p",
        { class: "keys dim" },
        "Keys: → ← or j k step · r race · + − zoom · n p next, previous finding · / filter",
      ),
    );
    this.mark();
    if (asked && matchMedia("(max-width: 50rem)").matches) this.detail.scrollIntoView();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLInputElement) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const move = { n: 1, p: -1 }[event.key];
    if (event.key === "/") this.filter.focus();
    else if (move) {
      const at = this.shown.indexOf(this.current) + move;
      if (this.shown[at]) location.hash = "#" + encodeURIComponent(this.shown[at].id);
    } else if (!(this.timelines.current && this.timelines.current.key(event.key))) return;
    event.preventDefault();
  }
}

new Page();
