//! Probes around whole methods: at the start, before every return, and when an
//! exception leaves it. Synchronized methods, class initialisers, constructors
//! and finalisers, and the models.
//!
//! Several can apply to one method. They nest: what starts first ends last.

use classfile::{Insn, Snippet, acc, method as method_desc, op};

use crate::method::{WeaveError, Weaver, call_probe, field_desc, keeps_this};
use crate::models::{Hook, Model, Stamp, what};
use crate::policy::Level;
use crate::probes::{self, Probe};
use crate::site::SiteKind;

/// What one reason puts around a method.
#[derive(Default)]
pub(crate) struct Bracket {
    pub(crate) entry: Vec<Snippet>,
    /// Before every return.
    pub(crate) returns: Vec<Snippet>,
    /// Before the return at this pc.
    pub(crate) returns_at: Vec<(u32, Snippet)>,
    /// Probes that take nothing but a site, if that.
    pub(crate) thrown: Vec<(Probe, Option<i32>)>,
    /// Behind all of those.
    pub(crate) thrown_last: Option<Snippet>,
}

impl Weaver<'_, '_, '_> {
    /// Puts in everything that concerns the method as a whole.
    pub(crate) fn bracket(&mut self, index: usize) -> Result<(), WeaveError> {
        let access = self.cx.class.methods.get(index).map_or(0, |m| m.access);
        let mut brackets = Vec::new();
        if self.followed {
            brackets.push(self.follow()?);
        }
        if self.joins() {
            // Who waits for the end of a thread must not hold its monitor, which
            // the thread takes when it ends.
            let snippet = self.snippet(probes::JOINING, |a| {
                a.aload(0).lload(1);
            })?;
            self.editor.insert_at_entry(snippet);
        }
        if self.level > Level::None {
            if access & acc::SYNCHRONIZED != 0 && !self.only_counts() {
                brackets.push(self.synchronized_method(access, index)?);
            }
            if self.cx.control.is_frame(&self.cx.method, &self.cx.desc) {
                brackets.push(self.frame()?);
            }
            // Thread's own initialiser binds currentThread, which every probe
            // calls: no probe can run before it.
            if &*self.cx.method == "<clinit>" && self.cx.name != "java/lang/Thread" {
                brackets.push(self.class_init()?);
            }
            if self.cx.freezes && &*self.cx.method == "<init>" && keeps_this(self.code) {
                let site = self.site_at(SiteKind::Freeze, 0);
                self.editor.keep_this();
                brackets.push(Bracket {
                    returns: vec![self.this_call(probes::FREEZE, site)?],
                    ..Bracket::default()
                });
            }
            if self.cx.finalizes && self.cx.detects() {
                brackets.extend(self.finalizer()?);
            } else if self.may_inherit_finalizer() && keeps_this(self.code) {
                let site = self.site_at(SiteKind::Constructed, 0);
                self.editor.keep_this();
                brackets.push(Bracket {
                    returns: vec![self.this_call(probes::CONSTRUCTED, site)?],
                    ..Bracket::default()
                });
            }
        } else if self.cx.control.on && &*self.cx.method == "<clinit>" {
            brackets.push(self.linking()?);
        }
        for model in self.cx.models.clone() {
            let same_desc = model.desc.is_none_or(|d| d == &*self.cx.desc);
            if model.method != &*self.cx.method || !same_desc {
                continue;
            }
            if let Some(bracket) = self.model(model, access)? {
                self.cx.applied.push(model);
                brackets.push(bracket);
            }
        }
        self.apply(brackets)
    }

    fn joins(&self) -> bool {
        let is = |m: &&&Model| m.hook == Hook::Join && m.method == &*self.cx.method;
        let model = self.cx.models.iter().find(is);
        model.is_some_and(|m| m.desc == Some(&*self.cx.desc))
    }

    fn apply(&mut self, brackets: Vec<Bracket>) -> Result<(), WeaveError> {
        let mut thrown = Vec::new();
        let mut last = None;
        for bracket in &brackets {
            for snippet in &bracket.entry {
                self.editor.insert_at_entry(snippet.clone());
            }
        }
        for bracket in brackets.into_iter().rev() {
            if !bracket.returns.is_empty() {
                for pc in self.returns() {
                    for snippet in &bracket.returns {
                        self.editor.insert_before(pc, snippet.clone());
                    }
                }
            }
            for (pc, snippet) in bracket.returns_at {
                self.editor.insert_before(pc, snippet);
            }
            for (probe, site) in bracket.thrown {
                thrown.push((probe, site, self.cx.probe(probe)?));
            }
            last = bracket.thrown_last.or(last);
        }
        let kept = self.deferred.flush_all.take();
        if !thrown.is_empty() || last.is_some() || kept.is_some() {
            let mut asm = Snippet::new(&mut self.cx.class.pool);
            if let Some(kept) = &kept {
                asm.append(kept);
            }
            for (probe, site, cp) in thrown {
                if let Some(site) = site {
                    asm.push_int(site);
                }
                call_probe(&mut asm, probe, cp);
            }
            if let Some(last) = &last {
                asm.append(last);
            }
            let snippet = asm.athrow().finish()?;
            self.editor.catch_all(snippet);
        }
        Ok(())
    }

    pub(crate) fn returns(&self) -> Vec<u32> {
        let returns = self
            .code
            .insns
            .iter()
            .filter(|i: &&Insn| op::is_return(i.op));
        returns.map(|i| i.pc).collect()
    }

    fn synchronized_method(&mut self, access: u16, index: usize) -> Result<Bracket, WeaveError> {
        if self.cx.control.on {
            match self.keeps_flag(access, index) {
                None => return self.own_monitor(access),
                Some(why) => self.cx.skip(why.to_owned(), false),
            }
        }
        self.synchronized(access)
    }

    fn synchronized(&mut self, access: u16) -> Result<Bracket, WeaveError> {
        let site = self.own_lock_site(access);
        let entry = if access & acc::STATIC != 0 {
            let kept = self.keeps_data();
            let probe = [probes::ENTER_STATIC, probes::ENTER_STATIC_TRUSTED][usize::from(kept)];
            self.site_call(probe, site)?
        } else {
            self.this_call(self.enter_probe(), site)?
        };
        let mut bracket = Bracket {
            entry: vec![entry],
            thrown: vec![(probes::EXIT_TOP, Some(site))],
            ..Bracket::default()
        };
        // Each return has its own line: where the lock was let go.
        for pc in self.returns() {
            let exit = self.site_at(SiteKind::Exit, pc);
            let snippet = self.site_call(probes::EXIT_TOP, exit)?;
            bracket.returns_at.push((pc, snippet));
        }
        Ok(bracket)
    }

    /// Thread's methods that number threads order those who make threads by
    /// accident only; nothing says that they do.
    fn only_counts(&self) -> bool {
        self.cx.name == "java/lang/Thread"
            && matches!(&*self.cx.method, "nextThreadNum" | "nextThreadID")
    }

    fn class_init(&mut self) -> Result<Bracket, WeaveError> {
        let site = self.site_at(SiteKind::Init, 0);
        Ok(Bracket {
            entry: vec![self.site_call(probes::INIT_BEGIN, site)?],
            returns: vec![self.site_call(probes::INIT_END, site)?],
            thrown: vec![(probes::INIT_END, Some(site))],
            ..Bracket::default()
        })
    }

    /// Others are told that the thread is in this method.
    fn frame(&mut self) -> Result<Bracket, WeaveError> {
        let site = self.site_at(SiteKind::Frame, 0);
        Ok(Bracket {
            entry: vec![self.site_call(probes::FRAME_BEGIN, site)?],
            returns: vec![self.snippet(probes::FRAME_END, |_| {})?],
            thrown: vec![(probes::FRAME_END, None)],
            ..Bracket::default()
        })
    }

    /// The JVM waits for it with locks of its own held: no other thread is to go
    /// on meanwhile.
    fn linking(&mut self) -> Result<Bracket, WeaveError> {
        Ok(Bracket {
            entry: vec![self.snippet(probes::LINKING_BEGIN, |_| {})?],
            returns: vec![self.snippet(probes::LINKING_END, |_| {})?],
            thrown: vec![(probes::LINKING_END, None)],
            ..Bracket::default()
        })
    }

    /// Whether this is a constructor after which a finaliser of a superclass may
    /// run. When a class is loaded nobody knows its superclass, so the first
    /// object made decides. FastTrack needs none of it: there finalisers come
    /// after everything.
    fn may_inherit_finalizer(&self) -> bool {
        let has_none = |name: &str| {
            matches!(
                name,
                "java/lang/Object" | "java/lang/Enum" | "java/lang/Record"
            )
        };
        self.cx.mode.is_events()
            && self.checks()
            && &*self.cx.method == "<init>"
            && !self.cx.class.super_name().is_none_or(|n| has_none(&n))
    }

    /// The end of a constructor happens before the finaliser.
    fn finalizer(&mut self) -> Result<Option<Bracket>, WeaveError> {
        let mut bracket = Bracket::default();
        if &*self.cx.method == "<init>" && keeps_this(self.code) {
            let site = self.site_at(SiteKind::Finalizer, 0);
            self.editor.keep_this();
            bracket
                .returns
                .push(self.this_call(probes::SYNC_RELEASE, site)?);
        } else if &*self.cx.method == "finalize" && &*self.cx.desc == "()V" {
            let site = self.site_at(SiteKind::Finalizer, 0);
            bracket
                .entry
                .push(self.this_call(probes::SYNC_ACQUIRE, site)?);
        } else {
            return Ok(None);
        }
        Ok(Some(bracket))
    }

    /// What a model puts around the method; `None` if this JDK's method or class
    /// is not of the expected shape.
    fn model(&mut self, model: &Model, access: u16) -> Result<Option<Bracket>, WeaveError> {
        let desc = std::sync::Arc::clone(&self.cx.desc);
        let Ok(signature) = method_desc(&desc) else {
            return Ok(None);
        };
        let is_static = access & acc::STATIC != 0;
        let needs_this = !matches!(
            model.hook,
            Hook::AcquireResult
                | Hook::ReleaseParam(_)
                | Hook::ThreadsEnded
                | Hook::Unwatched
                | Hook::Loading
                | Hook::Linking
                | Hook::SpinWait
                | Hook::Asks(_)
        );
        let returned = match model.hook {
            Hook::TryLock { .. }
            | Hook::SharedTryLock { .. }
            | Hook::ThreadAlive
            | Hook::Joined
            | Hook::VirtualJoin => signature.ret == "Z",
            Hook::AcquireOnceDone { .. } => matches!(signature.ret, "Z" | "V"),
            Hook::StampWrite | Hook::StampRead | Hook::StampConvert(_) => signature.ret == "J",
            Hook::ThreadState | Hook::AcquireResult => signature.ret.starts_with('L'),
            _ => true,
        };
        if !returned || needs_this && (is_static || !keeps_this(self.code)) {
            return Ok(None);
        }
        let mut b = Bracket::default();
        if !self.lock_point(&mut b, model.hook)? {
            return Ok(None);
        }
        match model.hook {
            Hook::Lock { key } => self.locked(&mut b, probes::LOCK_ACQUIRED, key, false),
            Hook::TryLock { key } => self.locked(&mut b, probes::LOCK_TRIED, key, true),
            Hook::Unlock { key } => self.unlocked(&mut b, probes::LOCK_RELEASING, key),
            Hook::SharedLock { key } => {
                self.locked(&mut b, probes::LOCK_SHARED_ACQUIRED, key, false)
            }
            Hook::SharedTryLock { key } => {
                self.locked(&mut b, probes::LOCK_SHARED_TRIED, key, true)
            }
            Hook::SharedUnlock { key } => self.unlocked(&mut b, probes::LOCK_SHARED_RELEASING, key),
            Hook::Linking => {
                b = self.linking()?;
                Ok(true)
            }
            Hook::Await { key } => self.awaits(&mut b, key),
            Hook::Signal { key } => self.keyed_entry(&mut b, probes::SIGNAL, key),
            Hook::Condition { .. } => Ok(true),
            Hook::Join => {
                self.silence(&mut b)?;
                Ok(true)
            }
            Hook::Asks(what) => {
                b.entry.push(self.snippet(probes::ASKING, |a| {
                    if is_static {
                        a.aconst_null();
                    } else {
                        a.aload(0);
                    }
                    a.push_int(what);
                })?);
                Ok(true)
            }
            Hook::Release { key } => self.keyed_entry(&mut b, probes::SYNC_RELEASE, key),
            Hook::AcquireOnceDone { key } => self.once_done(&mut b, key, signature.ret == "Z"),
            Hook::VirtualStart
            | Hook::VirtualRun
            | Hook::Mounts
            | Hook::Joined
            | Hook::VirtualJoin
            | Hook::Interrupt
            | Hook::InterruptSeen
            | Hook::Wait => self.virtual_thread(&mut b, model.hook),
            _ => self.unkeyed(&mut b, model.hook, &desc, is_static),
        }
        .map(|found| found.then_some(b))
    }

    /// Lock and its kin: silence inside, the verdict at the end.
    fn locked(
        &mut self,
        b: &mut Bracket,
        probe: Probe,
        key: &str,
        tries: bool,
    ) -> Result<bool, WeaveError> {
        let Some(key_desc) = field_desc(&self.cx.class, key) else {
            return Ok(false);
        };
        let site = self.site_at(SiteKind::Model, 0);
        let name = self.cx.name.clone();
        self.silence(b)?;
        b.returns.push(self.snippet(probe, |a| {
            if tries {
                a.dup();
            }
            a.aload(0).getfield(&name, key, &key_desc).push_int(site);
        })?);
        if tries && self.cx.control.on {
            b.returns.push(self.snippet(probes::TRY_RESULT, |a| {
                a.dup();
            })?);
        }
        Ok(true)
    }

    /// In a controlled run, before everything else: what the method of a lock
    /// is about to do. `false`: the class has no such key.
    fn lock_point(&mut self, b: &mut Bracket, hook: Hook) -> Result<bool, WeaveError> {
        let Some(what) = hook.what().filter(|_| self.cx.control.on) else {
            return Ok(true);
        };
        let what = match (&*self.cx.method, what) {
            ("lockInterruptibly", what::LOCK) => what::LOCK_INTERRUPTIBLY,
            ("lockInterruptibly", what::SHARED_LOCK) => what::SHARED_LOCK_INTERRUPTIBLY,
            (_, what) => what,
        };
        let key = match hook.key() {
            None => None,
            Some(key) => match field_desc(&self.cx.class, key) {
                None => return Ok(false),
                Some(desc) => Some((key, desc)),
            },
        };
        let site = self.site_at(SiteKind::Model, 0);
        let name = self.cx.name.clone();
        b.entry.push(self.snippet(probes::LOCK_POINT, |a| {
            a.aload(0);
            if let Some((key, desc)) = &key {
                a.getfield(&name, key, desc);
            }
            a.push_int(what).push_int(site);
        })?);
        Ok(true)
    }

    /// What goes on inside is not the program's synchronisation.
    pub(crate) fn silence(&mut self, b: &mut Bracket) -> Result<(), WeaveError> {
        b.entry.push(self.snippet(probes::MODEL_BEGIN, |_| {})?);
        b.returns.push(self.snippet(probes::MODEL_END, |_| {})?);
        b.thrown.push((probes::MODEL_END, None));
        Ok(())
    }

    fn unlocked(&mut self, b: &mut Bracket, probe: Probe, key: &str) -> Result<bool, WeaveError> {
        if !self.keyed_entry(b, probe, key)? {
            return Ok(false);
        }
        self.silence(b)?;
        Ok(true)
    }

    fn awaits(&mut self, b: &mut Bracket, key: &str) -> Result<bool, WeaveError> {
        if !self.keyed_entry(b, probes::AWAIT_BEGIN, key)? {
            return Ok(false);
        }
        let site = self.site_at(SiteKind::Model, 0);
        b.returns.push(self.site_call(probes::AWAIT_END, site)?);
        b.thrown.push((probes::AWAIT_END, Some(site)));
        Ok(true)
    }

    /// At the start: the key object and the site.
    fn keyed_entry(
        &mut self,
        b: &mut Bracket,
        probe: Probe,
        key: &str,
    ) -> Result<bool, WeaveError> {
        let Some(key_desc) = field_desc(&self.cx.class, key) else {
            return Ok(false);
        };
        let site = self.site_at(SiteKind::Model, 0);
        let name = self.cx.name.clone();
        b.entry.push(self.snippet(probe, |a| {
            a.aload(0).getfield(&name, key, &key_desc).push_int(site);
        })?);
        Ok(true)
    }

    /// The models that need no key.
    fn unkeyed(
        &mut self,
        b: &mut Bracket,
        hook: Hook,
        desc: &str,
        is_static: bool,
    ) -> Result<bool, WeaveError> {
        match hook {
            Hook::Uncaught => {
                b.entry.push(self.snippet(probes::UNCAUGHT, |a| {
                    a.aload(1);
                })?);
                return Ok(true);
            }
            Hook::SpinWait => {
                b.entry.push(self.snippet(probes::SPIN_WAIT, |_| {})?);
                return Ok(true);
            }
            Hook::ThreadAlive => {
                b.returns.push(self.snippet(probes::THREAD_ALIVE, |a| {
                    a.dup().aload(0);
                })?);
                return Ok(true);
            }
            Hook::ThreadState => {
                b.returns.push(self.snippet(probes::THREAD_STATE, |a| {
                    a.dup().aload(0);
                })?);
                return Ok(true);
            }
            _ => {}
        }
        let site = self.site_at(SiteKind::Model, 0);
        match hook {
            Hook::StampWrite => b.returns.push(self.snippet(probes::STAMP_WRITE, |a| {
                a.dup2().aload(0).push_int(site);
            })?),
            Hook::StampRead => {
                self.silence(b)?;
                b.returns.push(self.snippet(probes::STAMP_READ, |a| {
                    a.dup2().aload(0).push_int(site);
                })?);
            }
            Hook::StampConvert(mode) => {
                b.entry.push(self.snippet(probes::STAMP_CONVERTING, |a| {
                    a.aload(0).push_int(mode as i32).push_int(site);
                })?);
                b.returns.push(self.snippet(probes::STAMP_CONVERTED, |a| {
                    a.dup2().aload(0).push_int(mode as i32).push_int(site);
                })?)
            }
            Hook::StampRelease(mode) => {
                b.entry.push(self.snippet(probes::STAMP_RELEASE, |a| {
                    a.aload(0).push_int(mode as i32).push_int(site);
                })?);
                // What a writer does to the state is what optimistic readers go by.
                if mode == Stamp::Read {
                    self.silence(b)?;
                }
            }
            Hook::ThreadsEnded => b.entry.push(self.site_call(probes::THREADS_ENDED, site)?),
            Hook::Unwatched => {
                b.entry.push(self.snippet(probes::UNWATCHED_BEGIN, |_| {})?);
                b.returns.push(self.snippet(probes::UNWATCHED_END, |_| {})?);
                b.thrown.push((probes::UNWATCHED_END, None));
            }
            Hook::Loading => {
                b.entry.push(self.snippet(probes::LOADING_BEGIN, |_| {})?);
                b.returns.push(self.snippet(probes::LOADING_END, |_| {})?);
                b.thrown.push((probes::LOADING_END, None));
            }
            Hook::AcquireThis => b.entry.push(self.this_call(probes::SYNC_ACQUIRE, site)?),
            Hook::AcquireResult => b.returns.push(self.snippet(probes::SYNC_ACQUIRE, |a| {
                a.dup().push_int(site);
            })?),
            Hook::ReleaseParam(wanted) => {
                let Some(slot) = param_slot(desc, wanted, is_static) else {
                    return Ok(false);
                };
                b.entry.push(self.snippet(probes::SYNC_RELEASE, |a| {
                    a.aload(slot).push_int(site);
                })?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) fn site_call(&mut self, probe: Probe, site: i32) -> Result<Snippet, WeaveError> {
        self.snippet(probe, |a| {
            a.push_int(site);
        })
    }

    fn this_call(&mut self, probe: Probe, site: i32) -> Result<Snippet, WeaveError> {
        self.snippet(probe, |a| {
            a.aload(0).push_int(site);
        })
    }
}

/// The local of the first parameter of this type.
fn param_slot(desc: &str, wanted: &str, is_static: bool) -> Option<u16> {
    let mut slot = u16::from(!is_static);
    for param in method_desc(desc).ok()?.params() {
        if param == wanted {
            return Some(slot);
        }
        slot += classfile::slots(param);
    }
    None
}
