//! Class files on their way in.

use crate::Agent;
use crate::control::Control;
use crate::jni::{Jni, Ref};
use crate::jvmti::class_in;
use crate::sites::ClassSites;
use classfile::is_jdk_name;
use instrument::{Level, Mode, PREFIX, Request, Rewritten, Site, SiteKind};
use protocol::control::Cause;
use protocol::finding::{Line, Skipped, Tried};
use rustc_hash::{FxBuildHasher, FxHashSet};
use sha2::{Digest, Sha256};
use std::hash::BuildHasher;
use std::sync::Mutex;

/// What was instrumented and what was not.
#[derive(Default, Debug)]
pub struct Coverage {
    pub seen: u64,
    pub instrumented: u64,
    /// Classes whose data accesses are checked.
    pub checked: u64,
    pub skipped: u64,
    pub missing_models: Vec<String>,
    /// Virtual threads share carriers.
    pub has_carriers: bool,
    /// Digests of the names of the JDK's classes that the JVM has shown.
    of_jdk: FxHashSet<u64>,
    /// Java's launcher has loaded the texts of its complaints.
    pub launcher_complained: bool,
}

/// Loaded when the first virtual thread is made that is to share carriers.
const CONTINUATION: &str = "java/lang/VirtualThread$VThreadContinuation";

/// Holds the texts of java's launcher, which says little unless it cannot run the program.
const LAUNCHER_TEXTS: &str = "sun/launcher/LauncherHelper$ResourceBundleHolder";

impl Agent {
    /// The class with probes; None if it stays as it is.
    pub fn rewrite(&self, jni: Jni, loader: Ref, bytes: &[u8]) -> Option<Vec<u8>> {
        let worker = self.control.as_ref().and_then(Control::worker);
        let Some(worker) = worker.filter(|_| !self.is_boot_or_platform(jni, loader)) else {
            return self.rewrite_once(jni, loader, bytes);
        };
        let by = self.jvmti.class_signature(jni.class_of(loader));
        match by.as_deref() {
            Some("Ljava/lang/PhotofinishLoader;") => {
                let name = || class_name(bytes);
                worker.rewritten(name, bytes, || self.rewrite_once(jni, loader, bytes))
            }
            Some("Ljdk/internal/loader/ClassLoaders$AppClassLoader;") => {
                let stub = worker.stub(&class_name(bytes));
                stub.or_else(|| self.rewrite_once(jni, loader, bytes))
            }
            _ => {
                worker.complain("it has class loaders of its own");
                self.rewrite_once(jni, loader, bytes)
            }
        }
    }

    fn rewrite_once(&self, jni: Jni, loader: Ref, bytes: &[u8]) -> Option<Vec<u8>> {
        let repaired = self.repaired(bytes);
        let bytes = repaired.as_deref().unwrap_or(bytes);
        self.probed(jni, loader, bytes).or(repaired)
    }

    /// The class with the repairs that are tried; None if none is about it.
    fn repaired(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let repairs = &self.options.repairs;
        if repairs.is_empty() {
            return None;
        }
        let name = classfile::ClassFile::parse(bytes).ok()?.name().into_owned();
        let mut repaired = None;
        for wanted in repairs.iter().filter(|r| r.class() == name) {
            let now = repaired.as_deref().unwrap_or(bytes);
            let made = instrument::repair::repair(now, wanted);
            let why = made.as_ref().err().map(ToString::to_string);
            self.findings.write(Line::Repair(Tried {
                repair: wanted.to_string(),
                why,
            }));
            repaired = made.ok().or(repaired);
        }
        repaired
    }

    fn probed(&self, jni: Jni, loader: Ref, bytes: &[u8]) -> Option<Vec<u8>> {
        let mode = match self.options.mode {
            protocol::Mode::None => Mode::Bare,
            protocol::Mode::Full => Mode::Full,
            protocol::Mode::Record => Mode::Record,
            m if m.makes_events() => Mode::Events,
            _ => Mode::FastTrack,
        };
        let boot_or_platform = self.is_boot_or_platform(jni, loader);
        let done = self.sites.add(|first_site| {
            let request = Request {
                bytes,
                mode,
                policy: &self.policy,
                first_site,
                boot_or_platform: Some(boot_or_platform),
                control: self.control_of_classes(),
            };
            match instrument::rewrite(&request) {
                Ok(mut rewritten) => {
                    let is_jdk = boot_or_platform && self.is_of_jdk(&rewritten.name, loader);
                    self.owners.note(&rewritten.name, is_jdk);
                    let sites = std::mem::take(&mut rewritten.sites);
                    if let Some(hidden) = &self.hidden {
                        hidden.number_frames(self, &rewritten.name, first_site, &sites);
                    }
                    let added = (!sites.is_empty()).then(|| ClassSites {
                        class: rewritten.name.as_str().into(),
                        file: rewritten.source_file.take().map(Into::into),
                        digest: match self.options.mode.records() {
                            true => Sha256::digest(bytes).to_vec(),
                            false => Vec::new(),
                        },
                        is_jdk,
                        first: first_site,
                        bytes: Mutex::new(
                            (mode == Mode::Full && followed(&sites)).then(|| bytes.to_vec()),
                        ),
                        sites,
                    });
                    (Ok(rewritten), added)
                }
                Err(e) => (Err(e), None),
            }
        });
        match done {
            Some(Ok(rewritten)) => {
                self.shown(&rewritten.name, boot_or_platform);
                self.note(rewritten)
            }
            Some(Err(e)) => {
                let name = class_name(bytes);
                self.shown(&name, boot_or_platform);
                let is_jdk = boot_or_platform && self.is_of_jdk(&name, loader);
                self.owners.note(&name, is_jdk);
                self.skip(&name, None, &e.to_string());
                None
            }
            None => {
                self.shown(&class_name(bytes), boot_or_platform);
                self.skip(
                    &class_name(bytes),
                    None,
                    "no more room for statements; exclude packages that do not matter",
                );
                None
            }
        }
    }

    fn shown(&self, class: &str, boot_or_platform: bool) {
        if boot_or_platform {
            let mut coverage = self.coverage.lock().unwrap_or_else(|e| e.into_inner());
            coverage.of_jdk.insert(FxBuildHasher.hash_one(class));
        }
    }

    /// JDK 21 to 23 show no agent a class that is loaded while a carrier does something on its own for the
    /// virtual thread that it carries. The bridge has those loaded before (PhotofinishVirtual.java); if
    /// there were others, an order of threads may have gone unseen.
    pub fn tell_unshown(&self, jni: Jni) {
        let coverage = self.coverage.lock().unwrap_or_else(|e| e.into_inner());
        if !coverage.has_carriers {
            return;
        }
        let all = self.jvmti.loaded_classes(jni).into_iter();
        let of_jdk =
            all.filter(|c| self.is_boot_or_platform(jni, self.jvmti.class_loader(jni, *c)));
        let names = of_jdk.filter_map(|class| {
            let signature = self.jvmti.class_signature(class)?;
            Some(class_of_file(&signature)?.to_owned())
        });
        let unshown = names.filter(|name| !coverage.of_jdk.contains(&FxBuildHasher.hash_one(name)));
        let mut unshown: Vec<String> = unshown.map(|n| encoding::names::dotted(&n)).collect();
        unshown.sort();
        if let Some(first) = unshown.first() {
            let what = match unshown.len() {
                1 => format!("a class that the JVM showed to no agent ({first})"),
                n => format!("{n} classes that the JVM showed to no agent ({first}, ...)"),
            };
            self.findings.write(Line::Unwatched { what });
        }
    }

    fn note(&self, rewritten: Rewritten) -> Option<Vec<u8>> {
        for s in &rewritten.skipped {
            self.skip(&rewritten.name, Some(&s.method), &s.why);
        }
        // Loaded when the first virtual thread is made that is to share a carrier with others, which
        // under control happens only where nobody could ask the JVM not to (driver/src/options.rs).
        if rewritten.name == CONTINUATION
            && let Some(control) = &self.control
        {
            self.findings.write(Line::Unwatched {
                what: "virtual threads".into(),
            });
            control.name_uncontrolled(self, Cause::Other, "virtual threads");
            // A thread that waits for one of them is not stuck.
            control.has_helpers();
        }
        if rewritten.name == "sun/security/provider/NativePRNG"
            && let Some(control) = &self.control
        {
            control.name_uncontrolled(
                self,
                Cause::Other,
                "random numbers of the system (SecureRandom, UUID)",
            );
        }
        if !rewritten.unsynchronized.is_empty() {
            let mut all = self
                .unsynchronized
                .lock()
                .unwrap_or_else(|e| e.into_inner());
            all.insert(rewritten.name.clone(), rewritten.unsynchronized);
        }
        let mut coverage = self.coverage.lock().unwrap_or_else(|e| e.into_inner());
        coverage.seen += 1;
        coverage.has_carriers |= rewritten.name == CONTINUATION;
        coverage.launcher_complained |= rewritten.name == LAUNCHER_TEXTS;
        coverage.missing_models.extend(rewritten.missing_models);
        if rewritten.bytes.is_some() {
            coverage.instrumented += u64::from(rewritten.level > Level::None);
            coverage.checked += u64::from(rewritten.level == Level::Full);
        }
        rewritten.bytes
    }

    /// What a controlled run wants in every class; noise goes where points do, and
    /// so does who is held back in a free run.
    fn control_of_classes(&self) -> Option<&instrument::Control> {
        let free = self.noise.is_some() || self.options.control.is_hidden_free();
        match &self.control {
            Some(control) => Some(control.targets()),
            None => free.then_some(&self.options.control.targets),
        }
    }

    /// Gives reflected methods the modifier back that the class file lost.
    pub fn show_as_synchronized(&self, jni: Jni, class: Ref, methods: Ref) {
        const SYNCHRONIZED: i32 = 0x20;
        let Some(name) = self.jvmti.class_signature(class) else {
            return;
        };
        let name = class_in(&name);
        let ours = {
            let all = self
                .unsynchronized
                .lock()
                .unwrap_or_else(|e| e.into_inner());
            all.get(name).cloned()
        };
        let Some(ours) = ours else {
            return;
        };
        for i in 0..jni.array_length(methods) {
            let method = jni.element(methods, i);
            let method = method.get();
            let id = jni.method_id(method);
            let signature = id.and_then(|id| self.jvmti.method(id));
            if signature.is_some_and(|s| ours.contains(&s))
                && let Some(field) = jni.field(jni.class_of(method), "modifiers")
            {
                let modifiers = jni.int_field(method, field);
                jni.set_int_field(method, field, modifiers | SYNCHRONIZED);
            }
        }
    }

    fn skip(&self, class: &str, method: Option<&str>, why: &str) {
        self.coverage
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .skipped += 1;
        self.findings.write(Line::Skipped(Skipped {
            class: encoding::names::dotted(class),
            method: method.map(str::to_owned),
            why: why.to_owned(),
        }));
    }

    /// Whether a loader is the boot or the platform loader; others load the
    /// program, whatever its packages are called.
    fn is_boot_or_platform(&self, jni: Jni, loader: Ref) -> bool {
        if loader.is_null() {
            return true;
        }
        let class = self.jvmti.class_signature(jni.class_of(loader));
        class.is_some_and(|c| c == "Ljdk/internal/loader/ClassLoaders$PlatformClassLoader;")
    }

    /// Whether a class of the boot or the platform loader is the JDK's: one that a
    /// user appended to the boot class path is not.
    fn is_of_jdk(&self, class: &str, loader: Ref) -> bool {
        let in_module = || {
            let package = class.rsplit_once('/').map(|(package, _)| package);
            package.is_some_and(|package| self.jvmti.is_boot_package_in_module(package))
        };
        !loader.is_null() || is_jdk_name(class) || in_module()
    }

    /// The array without the fields that we added; null if none is ours.
    pub fn without_ours<'env>(&self, jni: Jni<'env>, fields: Ref) -> Ref<'env> {
        let n = jni.array_length(fields);
        let Some(ours) = self.bridge.get().map(|b| b.is_ours(jni, fields)) else {
            return Ref::NULL;
        };
        if !ours.contains(&true) || ours.len() != n as usize {
            return Ref::NULL;
        }
        let kept: Vec<i32> = (0..n).filter(|i| !ours[*i as usize]).collect();
        let class = jni.class_of(jni.element(fields, 0).get());
        let fewer = jni.new_array(kept.len() as i32, class);
        for (to, from) in kept.iter().enumerate() {
            let field = jni.element(fields, *from);
            jni.set_element(fewer.get(), to as i32, field.get());
        }
        fewer.leave()
    }
}

/// Whether the control flow of some method is recorded: then the class file is
/// needed to make sense of it.
fn followed(sites: &[Site]) -> bool {
    sites.iter().any(|s| s.kind == SiteKind::Method)
}

/// The class that a signature names, if it comes from a class file: no array, nor a hidden class, whose
/// name ends with a number of its own.
fn class_of_file(signature: &str) -> Option<&str> {
    let class = signature.strip_prefix('L')?.strip_suffix(';')?;
    (!class.contains('.')).then_some(class)
}

/// A name for a class that could not be read: what its bytes say, if anything.
fn class_name(bytes: &[u8]) -> String {
    classfile::ClassFile::parse(bytes).map_or_else(
        |_| "(unreadable class file)".into(),
        |c| c.name().into_owned(),
    )
}

/// Whether a field's name is one of those we add.
pub fn is_our_name(name: &str) -> bool {
    name.starts_with(PREFIX)
}
