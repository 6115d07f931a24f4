//! Stacks for reports. A race is noticed at its second access; the first one
//! is long gone. So the bridge has the stacks of the first executions of each
//! statement kept, then of ever fewer; statements of the JDK count as others in each
//! call of the program that leads to them (`contexts`). A report shows the whole stack if it
//! was kept in the very epoch of the access. Otherwise it shows what is true of
//! every execution: the statement, and in the JDK the way there from the program's call.

use crate::Agent;
use crate::jni::Ref;
use crate::jvmti::{FrameInfo, Jvmti, class_in, without_address};
use order::{Epoch, Tid};
use protocol::finding;
use rustc_hash::FxHashMap;
use std::sync::Arc;

const DEPTH: usize = 24;
/// Samples kept of one statement in one thread.
const KEEP: usize = 8;
/// Methods of classes that come and go.
const MOST_METHODS: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub class: Arc<str>,
    pub method: Arc<str>,
    /// Of statements only.
    pub desc: Option<Arc<str>>,
    pub file: Option<Arc<str>>,
    pub line: Option<u32>,
    pub bci: Option<u32>,
}

impl Agent {
    /// A frame as it stands in findings.
    pub fn told_frame(&self, frame: &Frame) -> finding::Frame {
        let text = |text: &Arc<str>| text.to_string();
        finding::Frame {
            class: text(&frame.class),
            method: text(&frame.method),
            desc: frame.desc.as_ref().map(text),
            file: frame.file.as_ref().map(text),
            line: frame.line,
            bci: frame.bci,
            jdk: finding::told_owner(&frame.class, self.owners.is_jdk(&frame.class)),
        }
    }

    /// A stack as it stands in findings.
    pub fn told(&self, stack: &[Frame]) -> Vec<finding::Frame> {
        stack.iter().map(|frame| self.told_frame(frame)).collect()
    }
}

#[derive(Debug)]
struct Method {
    class: Arc<str>,
    name: Arc<str>,
    file: Option<Arc<str>>,
    lines: Vec<(i64, i32)>,
}

#[derive(Clone, Debug)]
pub struct Sample {
    epoch: Epoch,
    /// No other stack was seen in that epoch.
    exact: bool,
    pub stack: Arc<[Frame]>,
    pub locks: Arc<str>,
}

/// Places where threads are made that are kept: programs make them in a few.
const MOST_MAKERS: usize = 4096;

#[derive(Default, Debug)]
pub struct Stacks {
    methods: FxHashMap<usize, Arc<Method>>,
    /// Stacks that threads were made with: methods and where in them.
    makers: FxHashMap<Vec<(usize, i64)>, Arc<[Frame]>>,
    samples: FxHashMap<(u32, Tid), Vec<Sample>>,
    /// The first stack of each statement, by any thread.
    first: FxHashMap<u32, Arc<[Frame]>>,
}

impl Stacks {
    /// Another execution begins, with other classes.
    pub fn restart(&mut self) {
        self.samples.clear();
        self.first.clear();
        if self.methods.len() > MOST_METHODS {
            self.methods.clear();
            self.makers.clear();
        }
    }

    /// The current thread's stack, without our own frames.
    pub fn current(&mut self, jvmti: &Jvmti) -> Arc<[Frame]> {
        self.of_thread(jvmti, Ref::NULL)
    }

    /// The same of a thread that makes another. A million threads are made in a few places, and what is known
    /// of each is kept: they share their stacks.
    pub fn of_maker(&mut self, jvmti: &Jvmti) -> Arc<[Frame]> {
        let frames = jvmti.stack_of(Ref::NULL, DEPTH);
        let at = |f: &FrameInfo| (f.method.key(), f.location);
        let key: Vec<(usize, i64)> = frames.iter().map(at).collect();
        if let Some(known) = self.makers.get(&key) {
            return known.clone();
        }
        let stack = self.described(jvmti, frames);
        if self.makers.len() < MOST_MAKERS {
            self.makers.insert(key, stack.clone());
        }
        stack
    }

    /// The same for any thread.
    pub fn of_thread(&mut self, jvmti: &Jvmti, thread: Ref) -> Arc<[Frame]> {
        self.described(jvmti, jvmti.stack_of(thread, DEPTH))
    }

    fn described(&mut self, jvmti: &Jvmti, frames: Vec<FrameInfo>) -> Arc<[Frame]> {
        frames
            .into_iter()
            .map(|f| self.frame(jvmti, f))
            .skip_while(|f| f.class.starts_with("java.lang.Photofinish"))
            .collect()
    }

    /// One place, without the position in the bytecode.
    pub fn frame(&mut self, jvmti: &Jvmti, info: FrameInfo) -> Frame {
        let method = self
            .methods
            .entry(info.method.key())
            .or_insert_with(|| Arc::new(Method::describe(jvmti, info)))
            .clone();
        let line = method
            .lines
            .iter()
            .rev()
            .filter(|(start, _)| *start <= info.location)
            .max_by_key(|(start, _)| *start);
        Frame {
            class: method.class.clone(),
            method: method.name.clone(),
            desc: None,
            file: method.file.clone(),
            line: line.and_then(|(_, n)| u32::try_from(*n).ok()),
            bci: None, // of the rewritten code: not what a reader of the class file sees
        }
    }

    pub fn keep(&mut self, site: u32, epoch: Epoch, stack: Arc<[Frame]>, locks: &str) {
        self.first.entry(site).or_insert_with(|| stack.clone());
        let samples = self.samples.entry((site, epoch.tid())).or_default();
        if let Some(known) = samples.iter_mut().find(|s| s.epoch == epoch) {
            known.exact &= known.stack == stack;
            return;
        }
        if samples.len() == KEEP {
            samples.remove(0);
        }
        samples.push(Sample {
            epoch,
            exact: true,
            stack,
            locks: locks.into(),
        });
    }

    /// What was kept in the epoch of an access, if that leaves no doubt.
    pub fn of_access(&self, site: u32, epoch: Epoch) -> Option<&Sample> {
        let samples = self.samples.get(&(site, epoch.tid()))?;
        samples.iter().find(|s| s.epoch == epoch && s.exact)
    }

    /// Some stack of a statement.
    pub fn some(&self, site: u32) -> Option<&Arc<[Frame]>> {
        self.first.get(&site)
    }
}

impl Method {
    fn describe(jvmti: &Jvmti, info: FrameInfo) -> Method {
        let (signature, file) = jvmti.with_method_class(info.method, |class| {
            let class = class.non_null();
            let signature = class.and_then(|c| jvmti.class_signature(c));
            (signature, class.and_then(|c| jvmti.source_file(c)))
        });
        let name = jvmti
            .method(info.method)
            .map_or_else(|| "?".into(), |(n, _)| n);
        Method {
            class: signature
                .map_or_else(|| "?".to_string(), |s| type_name(&s))
                .into(),
            name: name.into(),
            file: file.map(Into::into),
            lines: jvmti.line_table(info.method),
        }
    }
}

/// `Lcom/shop/Cart;` or `[[I` as people write it: `com.shop.Cart`, `int[][]`.
pub fn type_name(signature: &str) -> String {
    let dims = signature.bytes().take_while(|b| *b == b'[').count();
    let element = &signature[dims..];
    let name = match element.as_bytes() {
        b"Z" => "boolean".into(),
        b"B" => "byte".into(),
        b"C" => "char".into(),
        b"S" => "short".into(),
        b"I" => "int".into(),
        b"J" => "long".into(),
        b"F" => "float".into(),
        b"D" => "double".into(),
        [b'L', .., b';'] => class_in(element).replace('/', "."),
        _ => without_address(element).replace('/', "."),
    };
    name + &"[]".repeat(dims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_as_people_write_them() {
        assert_eq!(type_name("Lcom/shop/Cart;"), "com.shop.Cart");
        assert_eq!(type_name("[[I"), "int[][]");
        assert_eq!(type_name("[Ljava/lang/String;"), "java.lang.String[]");
        assert_eq!(type_name("a/B"), "a.B");
        assert_eq!(type_name("[La/Made.0x0000000026081400;"), "a.Made[]");
    }

    fn frame(method: &str) -> Frame {
        Frame {
            class: "A".into(),
            method: method.into(),
            desc: None,
            file: None,
            line: None,
            bci: None,
        }
    }

    #[test]
    fn only_what_was_kept_in_the_same_epoch_is_told() {
        let mut stacks = Stacks::default();
        let stack: Arc<[Frame]> = Arc::new([frame("a")]);
        for clock in 1..20 {
            stacks.keep(7, Epoch::new(1, clock), stack.clone(), "");
        }
        assert!(stacks.of_access(7, Epoch::new(1, 15)).is_some());
        assert!(stacks.of_access(7, Epoch::new(1, 2)).is_none(), "forgotten");
        assert!(
            stacks.of_access(7, Epoch::new(2, 15)).is_none(),
            "another thread"
        );
        assert_eq!(stacks.some(7), Some(&stack));
    }

    #[test]
    fn two_callers_in_one_epoch_leave_a_doubt() {
        let mut stacks = Stacks::default();
        let epoch = Epoch::new(1, 3);
        stacks.keep(7, epoch, Arc::new([frame("a"), frame("b")]), "");
        assert!(stacks.of_access(7, epoch).is_some());
        stacks.keep(7, epoch, Arc::new([frame("a"), frame("c")]), "");
        assert!(stacks.of_access(7, epoch).is_none());
    }
}
