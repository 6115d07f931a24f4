// Everything about one finding.

const STATUSES = {
  confirmed: "made to happen side by side; can be replayed",
  observed: "unordered by happens-before in a real run",
  predicted: "a checked reordering of a run shows it",
  potential: "a suspicion; not shown to be real",
};

const HARMS = {
  harmful: "some trial threw an exception, deadlocked, or ended or printed as failures do",
  "changes-output": "some trial printed something else than others, without a sign of failure",
  harmless: "each two accesses were tried in both orders, and nothing out of the ordinary was seen",
  unknown: "nothing out of the ordinary was seen, but not in all orders, or output was not compared",
};

const VALIDATED = {
  "removes-race": ["good", "tried: removes the race"],
  "still-races": ["bad", "tried: still races"],
  "removes-violation": ["good", "tried: removes the violation"],
  "still-violates": ["bad", "tried: still not atomic"],
  deadlocks: ["bad", "tried: deadlocks"],
  "not-tried": ["dim", "not tried"],
};

function locationOf(race) {
  const group = race.group;
  // An object of the JDK that no field is known to hold.
  if (group && !group.inside && inJdk(race.location || {})) return group.owner;
  const at = race.location || {};
  if (at.array !== undefined) {
    const element = at.index === undefined ? "" : " element " + at.index;
    return at.array + element + (at.from ? " of " + at.from : "");
  }
  return (at.static ? "static " : "") + (at.class ? at.class + "." : "") + at.field;
}

function section(title, ...children) {
  const all = children.flat(Infinity).filter((child) => child);
  return all.length ? el("section", {}, el("h3", {}, title), all) : null;
}

function facts(rows) {
  const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "dl",
    {},
    known.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}

function badges(finding) {
  return [
    finding.status ? badge(finding.status, finding.status, STATUSES[finding.status]) : null,
    finding.harm ? badge(finding.harm, finding.harm, HARMS[finding.harm]) : null,
    list((report.baseline || {}).new).includes(finding.id)
      ? badge("bad", "new", "not in the baseline")
      : null,
  ];
}

// The schedules of a finding, and a timeline of the one that is chosen.
function schedules(id, timelines, accesses = []) {
  const belongs = (name) => name === id || name.startsWith(id + ".");
  const names = Object.keys(data.schedules).filter(belongs);
  if (!names.length) return null;
  const box = el("div", {});
  const tabs = names.map((name) =>
    el(
      "button",
      { type: "button", class: "tab", "aria-pressed": "false", onclick: () => choose(name) },
      name,
    ),
  );
  const choose = (name) => {
    const timeline = new Timeline(data.schedules[name], accesses);
    timelines.current = timeline;
    tabs.forEach((tab, at) => tab.setAttribute("aria-pressed", String(names[at] === name)));
    const { strategy, seed, outcome } = data.schedules[name];
    const how = strategy
      ? `${strategy}, seed ${seed}; ${outcome === undefined ? "cut short" : "ended: " + outcome}`
      : "the witness: an order in which they meet";
    box.replaceChildren(el("p", { class: "dim" }, how), timeline.node);
    requestAnimationFrame(() => timeline.show());
  };
  // The most telling one: of those that end in something, the first.
  const telling = names.find((name) => !name.endsWith(".ok") && !name.endsWith(".witness"));
  choose(telling || names[0]);
  return section("Timeline", names.length > 1 ? el("div", { class: "tabs" }, tabs) : null, box);
}

function access(race, index) {
  const it = race.accesses[index];
  const own = inJdk(it) ? list(it.stack).find((frame) => !inJdk(frame)) : null;
  const carets = data.carets[race.id] || [];
  const locks = it.locks === undefined ? null : it.locks.length ? it.locks.join(", ") : "none";
  const created = list(it.thread_created).find((frame) => !inJdk(frame)) || list(it.thread_created)[0];
  return el(
    "article",
    { class: "access " + (index ? "second" : "first") },
    el("h4", {}, el("b", {}, it.op), ` by thread "${it.thread}"`),
    own ? el("p", { class: "dim" }, "inside " + place(it) + ", called here:") : null,
    snippet(own || it, { caret: own ? null : carets[index], tone: index ? "second" : "first" }),
    facts([
      ["locks held", locks],
      ["thread started", created ? place(created) : null],
    ]),
    stack(it.stack, "stack"),
    it.stack_exact === false && (inJdk(it) || list(it.stack).length)
      ? el("p", { class: "dim" }, own ? "further callers were not kept" : "who called there was not kept")
      : null,
  );
}

/** Which write a read saw, and why it may. */
function staleRead(it) {
  const saw = it.saw ? `, written at ${place(it.saw)}` : ", the value before any write";
  return el(
    "div",
    { class: "message" },
    `"${it.thread}" reads ${it.value} at ${place(it)}${saw}; not ${it.newest}, which "${it.missed.thread}" wrote before at ${place(it.missed)}`,
    el("div", { class: "dim" }, it.why),
  );
}

// Which accesses met, where a line has several.
function met(it) {
  const orders = list(it.orders);
  return orders.length > 1 ? "; " + orders.map(([a, b]) => `${a} then ${b}`).join(", ") : "";
}

// What the program did where no order was forced.
function referenceRuns() {
  const ways = list(report.reference_runs);
  const total = ways.reduce((sum, way) => sum + way.runs, 0);
  const text = (way) =>
    `${way.runs} of ${total} ` +
    (way.result === "ok" ? "as compared with" : way.result + (way.detail ? ": " + way.detail : "")) +
    (list(way.failure_signs).length ? ` (${way.failure_signs.join(", ")})` : "");
  return ways.length
    ? el("div", { class: "dim" }, "Runs without a forced order: " + ways.map(text).join("; "))
    : null;
}

function outcome(race, it) {
  const first = race.accesses[it.first] || race.accesses[0];
  const fine = it.result === "ok";
  const signs = list(it.failure_signs);
  const usual = signs.length ? "as in the reference run" : "nothing out of the ordinary";
  return el(
    "li",
    { class: fine ? "outcome" : "outcome bad" },
    el(
      "div",
      {},
      list(it.memory).length ? "a read sees an older value: " : `the ${first.op} by "${first.thread}" first: `,
      el("b", {}, fine ? usual : it.result),
    ),
    signs.length ? el("div", { class: "message" }, signs.join(", ")) : null,
    it.detail ? el("div", { class: "message" }, it.detail) : null,
    el("div", { class: "dim" }, counted(it.trials || 0, "trial") + met(it)),
    list(it.memory).map(staleRead),
    stack(it.stack, "stack"),
    it.replay ? command(it.replay.command) : null,
  );
}

function advice(it) {
  const [tone, words] = VALIDATED[it.validated] || ["dim", it.validated || "not tried"];
  const removes = list(it.removes);
  const known = ["kind", "target", "text", "removes", "validated", "diff", "cost", "caution"];
  const leaves = list(it.leaves);
  // Whatever else is said of it, in a word: how it was checked, what it costs.
  const more = Object.entries(it).filter(([key, value]) => !known.includes(key) && typeof value !== "object");
  return el(
    "li",
    { class: "advice" },
    el("div", {}, el("b", {}, it.text || it.kind), " ", badge(tone, words)),
    facts([
      ["kind", it.kind],
      ["where", it.target],
      ["removes", removes.length ? removes.join(", ") : null],
      ["leaves", leaves.length ? "uncaught " + leaves.join(", ") : null],
      ["but", it.caution],
      ["helps in", it.paths ? `${it.paths.helps} of ${counted(it.paths.seen, "occurrence")}` : null],
      ["takes", it.cost ? it.cost.toFixed(2) + " times as long as without" : null],
      ...more.map(([key, value]) => [key.replaceAll("_", " "), String(value)]),
    ]),
    it.diff ? diff(it.diff) : null,
  );
}

// The shortest run that shows a finding.
function story(lines) {
  if (!list(lines).length) return null;
  return el(
    "ol",
    { class: "story" },
    lines.map((line) =>
      el(
        "li",
        {},
        el("b", {}, line.thread),
        " " + line.text,
        line.file && line.line ? el("span", { class: "dim" }, `  ${line.file}:${line.line}`) : null,
      ),
    ),
  );
}

// How a race came about once, as advice tells it.
function occurrence(it) {
  if (!it) return null;
  return facts([
    ["first", it.source],
    [
      "in between",
      list(it.between).length
        ? el(
            "ul",
            { class: "plain" },
            it.between.map((t) => el("li", {}, t)),
          )
        : null,
    ],
    ["second", it.manifest],
  ]);
}

// What removes all races together.
function repairs(it) {
  if (!it || !list(it.repairs).length) return null;
  const [tone, words] = VALIDATED[it.validated] || ["dim", "not tried"];
  return [
    el("p", {}, "To remove ", list(it.removes).join(", "), " ", badge(tone, words)),
    el(
      "ul",
      {},
      it.repairs.map((text) => el("li", {}, text)),
    ),
    it.checked ? el("p", { class: "dim" }, it.checked) : null,
    list(it.leaves).length ? el("p", {}, "Leaves uncaught ", it.leaves.join(", ")) : null,
  ];
}

// The other races of a finding, each folded.
function members(race) {
  const group = race.group || {};
  return section(
    "With it",
    list(group.members).map((one) =>
      el(
        "details",
        {},
        el("summary", {}, el("span", { class: "id" }, one.id), " ", el("code", {}, locationOf(one)), " ", badges(one)),
        el("div", { class: "accesses" }, access(one, 0), access(one, 1)),
        list(one.outcomes).length
          ? el(
              "ul",
              { class: "plain" },
              one.outcomes.map((o) => outcome(one, o)),
            )
          : null,
        one.replay ? command(one.replay.command) : null,
      ),
    ),
  );
}

/** The JVM that showed it first, if a command started several. */
function jvmOf(race) {
  const run = list(report.runs)[Math.max(race.first_run || 1, 1) - 1];
  return run && run.jvm ? `${run.jvm.command} (process ${run.jvm.pid})` : null;
}

function raceDetail(race, timelines) {
  const { trials } = race;
  const met = trials && trials.met ? ` (its statements met in ${trials.met})` : "";
  const made = trials && `made to happen in ${trials.hit} of ${counted(trials.run, "trial")}${met}`;
  const runs = list(report.runs).length;
  return [
    el(
      "h2",
      {},
      el("span", { class: "id" }, race.id),
      race.group && (race.group.inside || inJdk(race.location || {})) ? " race inside " : " race on ",
      el("code", {}, locationOf(race)),
      " ",
      badges(race),
    ),
    facts([
      ["found by", list(race.found_by).join(", ")],
      [
        "seen",
        race.count
          ? counted(race.count, "time") + (runs > 1 ? `, in ${race.runs} of ${runs} runs` : "")
          : null,
      ],
      ["JVM", jvmOf(race)],
      ["trials", made],
      ["what it holds", race.group && race.group.inside ? locationOf({ location: race.group.inside }) : null],
      ["object allocated", race.allocated ? place(race.allocated) : null],
      ["array allocated", race.location && race.location.allocated ? place(race.location.allocated) : null],
    ]),
    el("div", { class: "accesses" }, access(race, 0), access(race, 1)),
    section("What happens", story(race.story)),
    schedules(race.id, timelines, list(race.accesses)) ||
      section(
        "Timeline",
        el(
          "p",
          { class: "dim" },
          "No schedule of this is at hand: `photofinish confirm` tries to make it happen and keeps one.",
        ),
      ),
    section(
      "What came of it",
      list(race.outcomes).length
        ? el(
            "ul",
            { class: "plain" },
            race.outcomes.map((o) => outcome(race, o)),
          )
        : null,
      list(race.outcomes).length ? referenceRuns() : null,
    ),
    members(race),
    section("How it came about", occurrence(race.occurrence)),
    section(
      "Advice",
      list(race.advice).length ? el("ol", { class: "plain" }, race.advice.map(advice)) : null,
    ),
    section("See it again", race.replay ? command(race.replay.command) : null),
    el("p", { class: "dim fingerprint" }, "fingerprint " + race.fingerprint),
  ];
}

function deadlockDetail(it, timelines) {
  const why =
    it.kind === "livelock"
      ? "threads go on without progress"
      : it.cycle
        ? "threads wait for each other"
        : "no thread is left that could wake these";
  return [
    el("h2", {}, el("span", { class: "id" }, it.id), ` ${it.kind}: ${why}`),
    el(
      "div",
      { class: "accesses" },
      list(it.threads).map((thread) =>
        el(
          "article",
          { class: "access" },
          el("h4", {}, `thread "${thread.thread}"`),
          facts([
            ["waits for", thread.waits_for],
            ["held by", thread.held_by],
            ["holds", list(thread.holds).join(", ")],
          ]),
          list(thread.stack).length ? snippet(thread.stack.find((f) => !inJdk(f)) || thread.stack[0]) : null,
          stack(thread.stack, "stack"),
        ),
      ),
    ),
    section("What happens", story(it.story)),
    schedules(it.id, timelines),
    section("See it again", it.replay ? command(it.replay.command) : null),
  ];
}

function failureDetail(it, timelines) {
  const own = list(it.stack).find((frame) => !inJdk(frame));
  return [
    el("h2", {}, el("span", { class: "id" }, it.id), " uncaught exception"),
    el("p", { class: "message" }, it.exception),
    facts([["thread", it.thread]]),
    own ? snippet(own) : null,
    stack(it.stack, "stack", true),
    section("What happens", story(it.story)),
    schedules(it.id, timelines),
    section("See it again", it.replay ? command(it.replay.command) : null),
  ];
}

function atomicityDetail(it, timelines) {
  const row = (one) =>
    el(
      "li",
      {},
      el("b", {}, one.op),
      ` of ${one.location} by "${one.thread}"`,
      one.part === "other" ? " (comes in between)" : "",
      snippet(one, { around: 1 }),
    );
  return [
    el(
      "h2",
      {},
      el("span", { class: "id" }, it.id),
      " not atomic: ",
      el("code", {}, it.unit),
      " ",
      badges(it),
    ),
    facts([
      ["pattern", it.pattern],
      ["entered at", it.at],
    ]),
    section("In this order", el("ol", { class: "plain" }, list(it.accesses).map(row))),
    section("What to change", list(it.advice).length ? el("ol", { class: "plain" }, it.advice.map(advice)) : null),
    schedules(it.id, timelines),
    section("See it again", it.replay ? command(it.replay.command) : null),
  ];
}

function propertyDetail(it, timelines) {
  const row = (one) => el("li", {}, el("b", {}, one.event), ` by "${one.thread}" at ${one.at}`);
  return [
    el(
      "h2",
      {},
      "property ",
      el("code", {}, it.name),
      " ",
      it.status === "holds" ? badge("good", "holds") : badges(it),
    ),
    facts([
      ["all orders looked at", it.complete ? "yes" : "no"],
      ["states", it.cuts],
    ]),
    section("Broken by", list(it.path).length ? el("ol", {}, it.path.map(row)) : null),
    schedules(it.name, timelines),
  ];
}
