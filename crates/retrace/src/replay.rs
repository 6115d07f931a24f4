//! Follows one thread: an abstract interpretation of the one path it took.
//!
//! Slots of stack and locals hold what their value depends on. Where the way
//! divides, the recording tells how it went on; where an instruction is an
//! access, the recorded event is taken from the stream, and given what it
//! depends on:
//!
//! - the latest decision that controls the place (`control`), which stands for
//!   all before it;
//! - the *floor*, which everything later in the thread depends on: what might
//!   have thrown, decisions on whose sides there is synchronisation or a call,
//!   how calls came back;
//! - the object and the index that it names.
//!
//! Values that did not flow, but would have if a decision had gone the other
//! way, are covered too: locals that another side may set depend on the
//! decision, writes on another side are told to the engine.
//!
//! Data that no event tells of (final fields, builders of the JDK) is kept with
//! the object it is in, as long as the thread that made the object has it to
//! itself; from then on it counts to the value that was handed out.
//!
//! When the recording and the code do not fit together (code without probes
//! did something unforeseen, the recording ends), the thread is *lost*: what
//! comes from there on depends on everything before it.

use crate::body::{Act, Body};
use crate::complete::Stats;
use crate::frame::{Caller, Decision, Frame, Inside, Val};
use crate::needs::{Might, Need, Needs, Out};
use crate::program::{Place, Program};
use crate::stream::{Item, Stream};
use predict::deps::ANYWHERE;
use std::rc::Rc;
use trace::{Event, Op, SiteId};

/// Steps between two questions whether to stop.
const ASKED: u32 = 1 << 12;

/// Why following ended.
pub(crate) struct Lost;

pub(crate) type Step<T = ()> = Result<T, Lost>;

pub(crate) struct Replay<'r, 'a> {
    pub program: &'r mut Program<'a>,
    pub events: &'r [Event],
    pub stream: Stream,
    pub needs: Needs,
    pub frames: Vec<Frame>,
    pub objects: Vec<Inside>,
    /// What everything later depends on.
    pub floor: Need,
    /// What was handed to code without probes that keeps it to itself.
    pub hidden: Need,
    /// What code outside of all that is followed depends on.
    root: Need,
    pub steps: u32,
    /// Steps at the last place that was told.
    pub told: u32,
    /// An exception is on its way.
    flying: bool,
    pub stats: &'r mut Stats,
}

impl<'r, 'a> Replay<'r, 'a> {
    pub fn new(
        program: &'r mut Program<'a>,
        events: &'r [Event],
        stream: Stream,
        stats: &'r mut Stats,
    ) -> Self {
        Replay {
            program,
            events,
            stream,
            needs: Needs::default(),
            frames: Vec::new(),
            objects: Vec::new(),
            floor: Need::NOTHING,
            hidden: Need::NOTHING,
            root: Need::NOTHING,
            steps: 0,
            told: 0,
            flying: false,
            stats,
        }
    }

    /// To the end of the thread, or to where it is lost, or somebody says stop.
    pub fn run(mut self, stop: &dyn Fn() -> bool) -> Needs {
        let mut asked = 0u32;
        while let Some((number, item)) = self.stream.head() {
            asked = asked.wrapping_add(1);
            if asked.is_multiple_of(ASKED) && stop() {
                break;
            }
            let went = if self.frames.is_empty() {
                self.outside(number, item)
            } else {
                self.step()
            };
            if went.is_err() {
                break;
            }
        }
        // Frames may still run on without anything recorded: nobody asks.
        let mut left = 0u64;
        while let Some((number, item)) = self.stream.head() {
            self.stream.take();
            if let Item::Event(_) = item {
                left += 1;
                self.unknown(number);
            }
        }
        if left > 0 {
            self.stats.lost_threads += 1;
            self.stats.lost_events += left;
        }
        self.needs
    }

    fn unknown(&mut self, number: u32) {
        let event = &self.events[number as usize];
        self.needs.push(Out {
            event: Some(number),
            site: event.site,
            op: event.op,
            happens: None,
            value: Need::NOTHING,
            class: ANYWHERE,
            load: false,
        });
    }

    /// Code that is not followed runs below everything.
    fn outside(&mut self, number: u32, item: Item) -> Step {
        self.flying = false;
        match item {
            Item::Enter { method, steps } => {
                self.steps = steps;
                let root = self.root;
                self.enter(method, Caller::Nobody, root, Val::from_need(root), None)
            }
            Item::Event(_) => {
                self.stream.take();
                let happens = self.needs.union(self.root, self.floor);
                let event = self.emit(number, happens, self.root, ANYWHERE, false);
                let mut root = Needs::happened(event);
                if sees(self.events[number as usize].op) {
                    root = self.needs.union(Needs::value(event), root);
                }
                self.root = root;
                Ok(())
            }
            Item::At { steps } => {
                self.stream.take();
                self.steps = steps;
                self.told = steps;
                Ok(())
            }
            _ => Err(Lost),
        }
    }

    /// Puts a frame on top; the head of the stream says so. Parameters are
    /// `args`, or each of them `all`.
    pub fn enter(
        &mut self,
        method: u32,
        caller: Caller,
        entry: Need,
        all: Val,
        args: Option<&[Val]>,
    ) -> Step {
        let (Some((number, _)), Some(body)) = (self.stream.head(), self.program.body(method))
        else {
            return Err(Lost);
        };
        self.stream.take();
        let happens = self.needs.union(entry, self.floor);
        let site = self.events[number as usize].site;
        self.needs.push(Out {
            event: Some(number),
            site,
            op: Op::MethodEnter(site.0),
            happens: Some(happens),
            value: Need::NOTHING,
            class: ANYWHERE,
            load: false,
        });
        let mut locals = vec![all; usize::from(body.locals)];
        if let Some(args) = args {
            if args.len() > locals.len() {
                return Err(Lost);
            }
            locals.fill(Val::default());
            locals[..args.len()].copy_from_slice(args);
        }
        if self.frames.len() >= DEEPEST {
            return Err(Lost);
        }
        self.frames.push(Frame {
            method,
            body,
            at: 0,
            locals,
            stack: Vec::new(),
            entry,
            decided: Vec::new(),
            control: None,
            caller,
            floor: self.floor,
            open: None,
            risky: false,
        });
        self.brackets(method)
    }

    /// Events that belong to a method as a whole: its lock, its class's
    /// initialisation, frozen fields.
    fn brackets(&mut self, method: u32) -> Step {
        use trace::tables::SiteKind::{Init, MonitorExit, Other, SyncMethod};
        while let Some((number, Item::Event(Some(place)))) = self.head() {
            let whole = matches!(place.kind, SyncMethod | Init | Other)
                || place.kind == MonitorExit && self.at_return(place);
            if place.method != method || !whole {
                break;
            }
            self.stream.take();
            let receiver = match self.frames.last() {
                Some(frame) if !frame.body.is_static => frame.locals.first().map(|v| v.need),
                _ => None,
            };
            let happens = self.here(receiver.unwrap_or_default());
            self.emit(number, happens, Need::NOTHING, ANYWHERE, false);
        }
        Ok(())
    }

    fn at_return(&self, place: Place) -> bool {
        self.frames.last().is_some_and(|frame| {
            let act = frame.body.acts.get(frame.at as usize);
            matches!(act, Some(Act::Return(_)))
                && frame.body.pcs.get(frame.at as usize) == Some(&place.pc)
        })
    }

    /// The next item, past those that only say where it is.
    pub fn head(&mut self) -> Option<(u32, Item)> {
        while let Some((_, Item::At { steps })) = self.stream.head() {
            if steps != self.steps {
                break;
            }
            self.told = steps;
            self.stream.take();
        }
        self.stream.head()
    }

    pub fn emit(&mut self, number: u32, happens: Need, value: Need, class: u32, load: bool) -> u32 {
        let event = &self.events[number as usize];
        if self.program.operations.is_some()
            && matches!(event.op, Op::Write(_) | Op::AtomicWrite(..))
        {
            self.steered_write();
        }
        self.needs.push(Out {
            event: Some(number),
            site: event.site,
            op: event.op,
            happens: Some(happens),
            value,
            class,
            load,
        })
    }

    pub fn top(&mut self) -> Step<&mut Frame> {
        self.frames.last_mut().ok_or(Lost)
    }

    /// What being at the current place depends on, within the method.
    pub fn control(&mut self) -> Need {
        match self.frames.last_mut() {
            Some(frame) => frame.control(),
            None => self.root,
        }
    }

    /// What an event here needs that names `object`.
    pub fn here(&mut self, object: Need) -> Need {
        let control = self.control();
        let happens = self.needs.union(control, self.floor);
        self.needs.union(happens, object)
    }

    /// Something that depends on `need` decided whether the thread goes on at
    /// all.
    pub fn decides_all(&mut self, need: Need) {
        if let Some(frame) = self.frames.last_mut() {
            frame.risky = true;
        }
        if !need.is_nothing() {
            let control = self.control();
            let need = self.needs.union(need, control);
            self.floor = self.needs.union(self.floor, need);
        }
    }

    /// One instruction of the top frame.
    fn step(&mut self) -> Step {
        if self.flying {
            return self.fly();
        }
        if self.top()?.open.is_some() {
            return self.calling();
        }
        match self.head() {
            Some((_, Item::Enter { method, steps })) if steps == self.steps => {
                let entry = self.control();
                return self.enter(method, Caller::Machine, entry, Val::from_need(entry), None);
            }
            // An initialiser without probes.
            Some((number, Item::Event(place)))
                if self.told == self.steps
                    && place.is_none_or(|place| self.is_elsewhere(number, place)) =>
            {
                self.stream.take();
                let happens = self.here(Need::NOTHING);
                self.emit(number, happens, Need::NOTHING, ANYWHERE, false);
                return Ok(());
            }
            _ => {}
        }
        let frame = self.top()?;
        let body = Rc::clone(&frame.body);
        let act = body.acts.get(frame.at as usize).ok_or(Lost)?;
        self.act(&body, act)
    }

    /// Whether the next recorded thing is an exception that was caught, or
    /// left a method, before anything else.
    pub fn pending(&mut self) -> bool {
        match self.head() {
            Some((_, Item::Caught { steps, .. } | Item::Left { steps, .. })) => steps == self.steps,
            _ => false,
        }
    }

    /// About to do what is counted as a step, or to leave: whether an exception
    /// came first. Then it is on its way.
    pub fn thrown(&mut self) -> bool {
        let pending = self.pending();
        self.flying |= pending;
        pending
    }

    /// The program throws.
    pub fn throw(&mut self) {
        self.flying = true;
    }

    /// Follows an exception to where it was caught, or out of the frame.
    fn fly(&mut self) -> Step {
        let control = self.control();
        self.floor = self.needs.union(self.floor, control);
        let top = self.top()?.method;
        self.brackets(top)?;
        match self.head() {
            Some((_, Item::Caught { place, steps })) if steps == self.steps => {
                self.stream.take();
                while let Some(frame) = self.frames.last_mut() {
                    if let Some(handler) = frame.catches(place) {
                        frame.stack.clear();
                        frame.stack.push(Val::from_need(self.floor));
                        let open = frame.open.take();
                        frame.risky = false;
                        frame.go(handler);
                        self.flying = false;
                        self.operated(open.and_then(|open| open.operation), true);
                        return Ok(());
                    }
                    self.abandon();
                }
                Err(Lost)
            }
            Some((number, Item::Left { method, steps })) if steps == self.steps => {
                self.stream.take();
                while let Some(frame) = self.frames.last() {
                    let (found, caller) = (frame.method == method, frame.caller);
                    self.abandon();
                    if found {
                        let site = self.events[number as usize].site;
                        let floor = self.floor;
                        self.needs.added(Op::MethodExit(site.0), site, Some(floor));
                        // Code without probes may catch it, the JVM will not.
                        self.flying = matches!(caller, Caller::Direct | Caller::Machine);
                        return Ok(());
                    }
                }
                Err(Lost)
            }
            // Out of constructors nothing tells: up to the next code without
            // probes, which caught it.
            _ => {
                let foreign = |f: &Frame| matches!(f.caller, Caller::Foreign | Caller::Nobody);
                let from = self.frames.iter().rposition(foreign).ok_or(Lost)?;
                while self.frames.len() > from {
                    self.abandon();
                }
                self.flying = false;
                Ok(())
            }
        }
    }

    /// The top frame is left by an exception.
    fn abandon(&mut self) {
        let control = self.control();
        self.floor = self.needs.union(self.floor, control);
        let open = self.frames.pop().and_then(|frame| frame.open);
        self.operated(open.and_then(|open| open.operation), true);
    }

    /// A decision with this outcome.
    pub fn decide(&mut self, body: &Rc<Body>, to: u32, condition: Need) -> Step {
        let control = self.control();
        let need = self.needs.union(condition, control);
        let frame = self.top()?;
        let stretch = body.stretch[frame.at as usize];
        frame.decided.retain(|d| d.stretch != stretch);
        let depth = frame.stack.len();
        frame.decided.push(Decision {
            stretch,
            need,
            condition,
            depth,
        });
        if body.control.is_coarse() {
            self.floor = self.needs.union(self.floor, need);
        } else if !need.is_nothing() {
            let rows = body.others.get(&stretch);
            let side = rows.and_then(|rows| rows.iter().find(|(t, _)| *t == to));
            let Some((_, side)) = side else {
                return Err(Lost);
            };
            if side.syncs {
                self.floor = self.needs.union(self.floor, need);
            } else if !side.writes.is_empty() {
                self.might(&side.writes, need);
            }
            for &local in &side.sets {
                let frame = self.frames.last_mut().ok_or(Lost)?;
                if let Some(slot) = frame.locals.get_mut(usize::from(local)) {
                    slot.need = self.needs.union(slot.need, need);
                }
            }
        }
        self.jump(to)
    }

    /// Something may have been written here, if `unless` had been otherwise.
    fn might(&mut self, classes: &[u32], unless: Need) {
        match (self.needs.out.len() as u32).checked_sub(1) {
            Some(after) => {
                let classes = classes.into();
                self.needs.might.push(Might {
                    after,
                    classes,
                    unless,
                });
            }
            None => self.floor = self.needs.union(self.floor, unless),
        }
    }

    /// Goes on at another instruction. Where ways meet, what lies on the stack
    /// since the decision was put there by the way that was taken.
    pub fn jump(&mut self, to: u32) -> Step {
        let frame = self.frames.last_mut().ok_or(Lost)?;
        let joins = *frame.body.joins.get(to as usize).ok_or(Lost)?;
        if joins
            && !frame.stack.is_empty()
            && let Some(decision) = frame.latest(frame.body.stretch[frame.at as usize])
        {
            let Decision { need, depth, .. } = *decision;
            for slot in frame.stack.iter_mut().skip(depth) {
                slot.need = self.needs.union(slot.need, need);
            }
        }
        frame.go(to);
        Ok(())
    }

    /// On to the next instruction.
    pub fn advance(&mut self) -> Step {
        let next = self.top()?.at + 1;
        self.jump(next)
    }

    /// A return instruction with its value.
    pub fn leave(&mut self, value: Option<Val>) -> Step {
        if let Some((_, Item::Caught { .. } | Item::Left { .. })) = self.head()
            && self.pending()
            && self.ours()
        {
            self.flying = true;
            return Ok(());
        }
        let method = self.top()?.method;
        self.brackets(method)?;
        self.steps = self.steps.wrapping_add(1);
        let control = self.control();
        let frame = self.frames.last_mut().ok_or(Lost)?;
        let exit = frame.control_of(frame.body.done);
        self.floor = self.needs.union(self.floor, exit);
        let frame = self.frames.pop().ok_or(Lost)?;
        let floor = self.floor;
        let site = SiteId(self.program.methods[method as usize].site);
        self.needs.added(Op::MethodExit(site.0), site, Some(floor));
        let value = value.map(|v| Val {
            need: self.needs.union(v.need, control),
            ..v
        });
        match frame.caller {
            Caller::Direct => self.returned(value),
            Caller::Foreign => {
                let got = value.map(|v| self.whole(v)).unwrap_or_default();
                let open = self.top()?.open.as_mut().ok_or(Lost)?;
                let had = open.result;
                let result = self.needs.union(had, got);
                if let Some(open) = &mut self.top()?.open {
                    open.result = result;
                }
                Ok(())
            }
            // Loading and initialising ends, but for errors of the JVM.
            Caller::Machine => {
                self.floor = frame.floor;
                Ok(())
            }
            Caller::Nobody => {
                let got = value.map(|v| self.whole(v)).unwrap_or_default();
                self.root = self.needs.union(self.root, got);
                Ok(())
            }
        }
    }

    /// Whether the pending exception concerns the top frame, and can have come
    /// from it.
    fn ours(&mut self) -> bool {
        let head = self.head();
        let Some(frame) = self.frames.last() else {
            return false;
        };
        frame.risky
            && match head {
                Some((_, Item::Caught { place, .. })) => frame.catches(place).is_some(),
                Some((_, Item::Left { method, .. })) => method == frame.method,
                _ => false,
            }
    }

    /// What a value depends on with what is inside the object, which is handed
    /// out now.
    pub fn whole(&mut self, value: Val) -> Need {
        match self.inside_mut(value) {
            Some(inside) => {
                inside.shared = true;
                let need = inside.need;
                self.needs.union(value.need, need)
            }
            None => value.need,
        }
    }

    /// The same without handing it out.
    pub fn contents(&mut self, value: Val) -> Need {
        match self.inside_mut(value).map(|i| i.need) {
            Some(need) => self.needs.union(value.need, need),
            None => value.need,
        }
    }

    pub fn inside_mut(&mut self, value: Val) -> Option<&mut Inside> {
        let at = (value.object as usize).checked_sub(1)?;
        self.objects.get_mut(at)
    }

    /// Puts something into an object without an event.
    pub fn fill(&mut self, object: Val, need: Need) {
        if let Some(had) = self.inside_mut(object).map(|i| i.need) {
            let now = self.needs.union(had, need);
            if let Some(inside) = self.inside_mut(object) {
                inside.need = now;
            }
        }
    }

    /// A new object with this inside.
    pub fn make(&mut self, inside: Need) -> Val {
        self.objects.push(Inside {
            need: inside,
            shared: false,
        });
        Val {
            need: Need::NOTHING,
            object: self.objects.len() as u32,
        }
    }
}

/// Frames, at most: a JVM's stack holds no more.
const DEEPEST: usize = 1 << 17;

/// Whether an event tells its thread something.
pub(crate) fn sees(op: Op) -> bool {
    matches!(op, Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..))
}
