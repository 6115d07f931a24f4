//! One class: its level, its fields, its methods one after the other.

use std::sync::Arc;

use classfile::{ClassFile, PoolFull, acc, is_jdk_name};
use rustc_hash::FxHashMap;

use crate::control::{ClassControl, Control};
use crate::effects::Effects;
use crate::escape::Summaries;
use crate::follow;
use crate::jdk_calls::{self, Getter};
use crate::models::{self, Model};
use crate::policy::{Level, Policy, never_touched};
use crate::probes::{BRIDGE, CONTROL_BRIDGE, Probe, SAMPLED, SAMPLING_BRIDGE};
use crate::shadow;
use crate::site::{FieldInfo, MemberRef, Site, SiteKind, Skipped};
use crate::{Error, method, monitor};

/// What the probes feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Epochs in shadow fields beside the fields.
    FastTrack,
    /// Events, with objects known by an identity field.
    Events,
    /// No detector: only who holds which lock, for a controlled run.
    Bare,
    /// Events for a recording. Unless threads are controlled, the order of accesses
    /// that race is recorded too: each access has a probe before and after it.
    Record,
    /// The same, and the way of each thread through the code (`follow.rs`).
    Full,
}

impl Mode {
    /// Whether accesses become events.
    pub fn is_events(self) -> bool {
        matches!(self, Mode::Events | Mode::Record | Mode::Full)
    }
}

/// A class to rewrite.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub bytes: &'a [u8],
    pub mode: Mode,
    pub policy: &'a Policy,
    /// The id of the first site.
    pub first_site: u32,
    /// Whether the boot or the platform loader defines the class, if known.
    pub boot_or_platform: Option<bool>,
    /// Of a controlled run.
    pub control: Option<&'a Control>,
}

/// The rewritten class and its tables.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// `None`: nothing to change.
    pub bytes: Option<Vec<u8>>,
    /// Internal name.
    pub name: String,
    pub super_name: Option<String>,
    pub level: Level,
    /// Their ids count up from [`Request::first_site`].
    pub sites: Vec<Site>,
    pub skipped: Vec<Skipped>,
    pub fields: Vec<FieldInfo>,
    /// Models (`class.method`) that this JDK has no method for.
    pub missing_models: Vec<String>,
    pub source_file: Option<String>,
    /// Methods (name, descriptor) that are `synchronized` no more, because they
    /// lock by themselves: reflection should not show that.
    pub unsynchronized: Vec<(String, String)>,
}

/// Rewrites a class.
pub fn rewrite(request: &Request<'_>) -> Result<Rewritten, Error> {
    let class = ClassFile::parse(request.bytes)?;
    let name = class.name().into_owned();
    let super_name = class.super_name().map(|n| n.into_owned());
    let level = match shadow::mirrors_a_layout(&class) {
        true => Level::None,
        false => request.policy.level_of(&name, request.boot_or_platform),
    };
    let glance = Glance::at(&class);
    let mut cx = ClassCx::new(class, name, level, request);
    let untouched = never_touched(&cx.name) && cx.models.is_empty()
        || cx.class.access & acc::MODULE != 0
        || glance.rewritten
        || shadow::is_rewritten(&cx.class)
        || level == Level::None
            && cx.models.is_empty()
            && !(glance.clones && cx.detects())
            && !cx.control.has_targets()
            && !(cx.control.on && cx.class.method_index("<clinit>", "()V").is_some());
    if untouched {
        return Ok(cx.into_result(None, super_name));
    }
    let mut changed = level > Level::None && shadow::make_volatile(&mut cx.class, &cx.name);
    cx.fields = shadow::declared(&cx.class, &cx.name, level, request.mode);
    changed |= shadow::add_fields(
        &mut cx.class,
        &cx.name,
        level,
        request.mode,
        request.policy,
        &cx.fields,
        cx.jdk,
    )?;
    cx.getters = jdk_calls::getters(&cx);
    for index in 0..cx.class.methods.len() {
        changed |= cx.method(index);
    }
    cx.note_missing_models();
    let bytes = changed.then(|| cx.class.to_bytes());
    Ok(cx.into_result(bytes, super_name))
}

/// What one look over the constant pool's strings tells.
struct Glance {
    /// The bridge is named: this is output of ours.
    rewritten: bool,
    /// Some `clone` is named.
    clones: bool,
}

impl Glance {
    fn at(class: &ClassFile<'_>) -> Glance {
        let mut glance = Glance {
            rewritten: false,
            clones: false,
        };
        let ours = [BRIDGE, CONTROL_BRIDGE, SAMPLING_BRIDGE].map(str::as_bytes);
        for index in 1..class.pool.len().min(usize::from(u16::MAX)) {
            match class.pool.utf8_bytes(index as u16) {
                Some(b"clone") => glance.clones = true,
                Some(text) if ours.contains(&text) => glance.rewritten = true,
                _ => {}
            }
        }
        glance
    }
}

/// A field that an instruction names.
#[derive(Clone, Debug)]
pub(crate) struct FieldUse {
    pub(crate) target: Arc<MemberRef>,
    /// Access flags, if this class declares it.
    pub(crate) own: Option<u16>,
    /// An access races on purpose.
    pub(crate) harmless: bool,
}

/// A class being rewritten.
pub(crate) struct ClassCx<'a> {
    pub(crate) class: ClassFile<'a>,
    pub(crate) name: String,
    pub(crate) level: Level,
    pub(crate) mode: Mode,
    /// Each access has a probe before and one after it.
    pub(crate) ordered: bool,
    pub(crate) jdk: bool,
    /// The class declares `finalize()`.
    pub(crate) finalizes: bool,
    /// Its constructors freeze final fields that lead to more data.
    pub(crate) freezes: bool,
    pub(crate) fields: Vec<FieldInfo>,
    sites: Vec<Site>,
    first_site: u32,
    skipped: Vec<Skipped>,
    missing: Vec<String>,
    pub(crate) control: ClassControl,
    pub(crate) policy: &'a Policy,
    unsynchronized: Vec<(String, String)>,
    pub(crate) models: Vec<&'static Model>,
    /// Also accesses to what no other thread can know.
    pub(crate) check_unshared: bool,
    /// Its probes rest most of the time.
    sampled: bool,
    pub(crate) summaries: Summaries,
    pub(crate) effects: Effects,
    /// Those that a method was found for.
    pub(crate) applied: Vec<&'static Model>,
    calls: Vec<(&'static str, u16)>,
    /// Methods that return a field and do nothing else.
    pub(crate) getters: Vec<Getter>,
    targets: FxHashMap<u16, Option<Arc<MemberRef>>>,
    field_uses: FxHashMap<u16, Option<FieldUse>>,
    /// Of the method at hand.
    pub(crate) method: Arc<str>,
    pub(crate) desc: Arc<str>,
}

impl<'a> ClassCx<'a> {
    fn new(class: ClassFile<'a>, name: String, level: Level, request: &Request<'a>) -> Self {
        let finalizes = name != "java/lang/Object"
            && class
                .method_index("finalize", "()V")
                .and_then(|i| class.methods.get(i))
                .is_some_and(|m| !m.is(acc::STATIC | acc::ABSTRACT | acc::NATIVE));
        let control = ClassControl::new(request.control, &name, level, || class.source_file());
        let bare = request.mode == Mode::Bare;
        let jdk = is_jdk_name(&name) && request.boot_or_platform != Some(false);
        ClassCx {
            models: models::of_class(&name, control.on)
                .filter(|m| !(bare && m.hook.only_orders()))
                .chain(follow::models(&name, request.mode))
                .collect(),
            policy: request.policy,
            control,
            unsynchronized: Vec::new(),
            jdk,
            level,
            mode: request.mode,
            ordered: request.control.is_none() && matches!(request.mode, Mode::Record | Mode::Full),
            freezes: level == Level::Full && !bare && shadow::freezes(&class, &name, jdk),
            class,
            name,
            finalizes,
            check_unshared: request.policy.check_unshared,
            sampled: request.policy.sampled,
            summaries: Summaries::default(),
            effects: Effects::default(),
            fields: Vec::new(),
            sites: Vec::new(),
            first_site: request.first_site,
            skipped: Vec::new(),
            missing: Vec::new(),
            applied: Vec::new(),
            calls: Vec::new(),
            getters: Vec::new(),
            targets: FxHashMap::default(),
            field_uses: FxHashMap::default(),
            method: Arc::from(""),
            desc: Arc::from(""),
        }
    }

    fn into_result(self, bytes: Option<Vec<u8>>, super_name: Option<String>) -> Rewritten {
        Rewritten {
            bytes,
            name: self.name,
            super_name,
            level: self.level,
            sites: self.sites,
            skipped: self.skipped,
            fields: self.fields,
            missing_models: self.missing,
            source_file: self.class.source_file(),
            unsynchronized: self.unsynchronized,
        }
    }

    /// Rewrites one method; with fewer probes if it gets too large, or not at
    /// all. Answers whether it changed.
    fn method(&mut self, index: usize) -> bool {
        let Some(member) = self.class.methods.get(index) else {
            return false;
        };
        let (native, synchronized) = (member.is(acc::NATIVE), member.is(acc::SYNCHRONIZED));
        if member.is(acc::ABSTRACT) || native && !synchronized {
            return false;
        }
        self.method = Arc::from(&*self.class.member_name(member));
        // Whenever an exception is made it takes its own lock, which nobody waits for. All else that
        // exceptions lock orders threads like any lock.
        if &*self.name == "java/lang/Throwable" && &*self.method == "fillInStackTrace" {
            return false;
        }
        self.desc = Arc::from(&*self.class.member_desc(member));
        if native {
            if self.control.on && self.level > Level::None {
                self.skip(monitor::NATIVE.to_owned(), false);
            }
            return false;
        }
        let (first, skipped) = (self.sites.len(), self.skipped.len());
        let mut why = None;
        let points = self.control.points;
        let attempts = [
            (Level::Full, points),
            (Level::Sync, points),
            (Level::Sync, false),
        ];
        for (i, (level, points)) in attempts.into_iter().enumerate() {
            if level > self.level.max(Level::Sync) || attempts[..i].contains(&(level, points)) {
                continue;
            }
            let all = std::mem::replace(&mut self.control.points, points);
            let outcome = method::weave(self, index, level.min(self.level));
            self.control.points = all;
            match outcome {
                Ok(changed) => {
                    if let Some(why) = why {
                        self.skip(why, true);
                    }
                    return changed;
                }
                Err(error) => {
                    self.sites.truncate(first);
                    self.skipped.truncate(skipped);
                    why = Some(error.to_string());
                    if !error.is_size() {
                        break;
                    }
                }
            }
        }
        if let Some(why) = why {
            self.skip(why, false);
        }
        false
    }

    fn note_missing_models(&mut self) {
        for model in &self.models {
            let found = self.applied.iter().any(|m| std::ptr::eq(*m, *model));
            let renamed = models::other_name(model.class, model.method)
                .is_some_and(|other| self.applied.iter().any(|m| m.method == other));
            let has_code = |desc: &&str| {
                let at = self.class.method_index(model.method, desc);
                let method = at.and_then(|at| self.class.methods.get(at));
                method.is_some_and(|m| m.access & acc::NATIVE == 0)
            };
            let too_old =
                models::is_of_later_jdk(model) && !model.desc.as_ref().is_some_and(has_code);
            if !found && !renamed && !too_old {
                self.missing
                    .push(format!("{}.{}", model.class, model.method));
            }
        }
    }

    /// There is a detector.
    pub(crate) fn detects(&self) -> bool {
        self.mode != Mode::Bare
    }

    /// The method at hand locks by itself now.
    pub(crate) fn note_unsynchronized(&mut self, index: usize) {
        monitor::give_up_flag(&mut self.class, index);
        let name = (self.method.to_string(), self.desc.to_string());
        self.unsynchronized.push(name);
    }

    /// Names the method at hand, for what it does not get.
    pub(crate) fn skip(&mut self, why: String, data_only: bool) {
        self.skipped.push(Skipped {
            method: format!("{}{}", self.method, self.desc),
            why,
            data_only,
        });
    }

    /// Notes a site and answers its id.
    pub(crate) fn site(&mut self, site: Site) -> i32 {
        let id = self.first_site.wrapping_add(self.sites.len() as u32);
        self.sites.push(site);
        id as i32
    }

    /// A bare site in the method at hand.
    pub(crate) fn new_site(&self, kind: SiteKind, pc: u32, line: Option<u16>) -> Site {
        Site {
            method: Arc::clone(&self.method),
            desc: Arc::clone(&self.desc),
            bci: pc as u16,
            line,
            kind,
            target: None,
            volatile: None,
            checked: self.level == Level::Full,
            array_from: None,
            array_to: None,
            array_type: None,
            holders: Box::default(),
        }
    }

    /// Whether to read the field is to learn what the object's maker froze.
    pub(crate) fn is_frozen(&self, used: &FieldUse) -> bool {
        self.freezes
            && used.own.is_some_and(|access| access & acc::FINAL != 0)
            && shadow::leads_on(&used.target.desc)
    }

    /// The pool index of a probe.
    pub(crate) fn probe(&mut self, probe: Probe) -> Result<u16, PoolFull> {
        if let Some(&(_, cp)) = self.calls.iter().find(|(name, _)| *name == probe.name) {
            return Ok(cp);
        }
        let class = self.class_of_probe(probe);
        let pool = &mut self.class.pool;
        let cp = pool.add_methodref(class, probe.name, probe.desc)?;
        self.calls.push((probe.name, cp));
        Ok(cp)
    }

    /// The class of the bridge whose method is called.
    pub(crate) fn class_of_probe(&self, probe: Probe) -> &'static str {
        match self.sampled && SAMPLED.contains(&probe) {
            true => SAMPLING_BRIDGE,
            false => probe.class,
        }
    }

    /// The member that an instruction names.
    pub(crate) fn target(&mut self, cp: u16) -> Option<Arc<MemberRef>> {
        let pool = &self.class.pool;
        let known = self.targets.entry(cp).or_insert_with(|| {
            pool.member_ref(cp).map(|m| {
                Arc::new(MemberRef {
                    class: m.class.into_owned(),
                    name: m.name.into_owned(),
                    desc: m.desc.into_owned(),
                })
            })
        });
        known.clone()
    }

    /// The field that an instruction names.
    pub(crate) fn field_use(&mut self, cp: u16) -> Option<FieldUse> {
        if let Some(known) = self.field_uses.get(&cp) {
            return known.clone();
        }
        let used = self.target(cp).map(|target| FieldUse {
            own: (target.class == self.name)
                .then(|| {
                    let mut fields = self.fields.iter();
                    fields.find(|f| f.name == target.name && f.desc == target.desc)
                })
                .flatten()
                .map(|f| f.access),
            harmless: models::races_harmlessly(&target.class, &target.name, &target.desc),
            target,
        });
        self.field_uses.insert(cp, used.clone());
        used
    }
}
