//! Stacks for reports. A race is noticed at its second access; the first one
//! is long gone. So the bridge has the stacks of the first executions of each
//! statement kept, then of ever fewer, and a report says whether the stack it
//! shows is from the very epoch of the access or from another execution of the
//! same statement by the same thread.

use crate::Agent;
use crate::jni::Ref;
use crate::jvmti::{FrameInfo, Jvmti};
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
    pub stack: Arc<[Frame]>,
    pub locks: Arc<str>,
}

#[derive(Default, Debug)]
pub struct Stacks {
    methods: FxHashMap<usize, Arc<Method>>,
    samples: FxHashMap<(u32, Tid), Vec<Sample>>,
}

impl Stacks {
    /// Another execution begins, with other classes.
    pub fn restart(&mut self) {
        self.samples.clear();
        if self.methods.len() > MOST_METHODS {
            self.methods.clear();
        }
    }

    /// The current thread's stack, without our own frames.
    pub fn current(&mut self, jvmti: &Jvmti) -> Arc<[Frame]> {
        self.of_thread(jvmti, Ref::NULL)
    }

    /// The same for any thread.
    pub fn of_thread(&mut self, jvmti: &Jvmti, thread: Ref) -> Arc<[Frame]> {
        let frames = jvmti.stack_of(thread, DEPTH);
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
        let samples = self.samples.entry((site, epoch.tid())).or_default();
        if samples.iter().any(|s| s.epoch == epoch) {
            return;
        }
        if samples.len() == KEEP {
            samples.remove(0);
        }
        samples.push(Sample {
            epoch,
            stack,
            locks: locks.into(),
        });
    }

    /// The best stack for an access, and whether it is of that very epoch.
    pub fn of_access(&self, site: u32, epoch: Epoch) -> Option<(&Sample, bool)> {
        let samples = self.samples.get(&(site, epoch.tid()))?;
        match samples.iter().find(|s| s.epoch == epoch) {
            Some(sample) => Some((sample, true)),
            None => Some((samples.last()?, false)),
        }
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
        [b'L', .., b';'] => element[1..element.len() - 1].replace('/', "."),
        _ => element.replace('/', "."),
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
    }

    #[test]
    fn the_sample_of_the_same_epoch_wins() {
        let mut stacks = Stacks::default();
        let stack: Arc<[Frame]> = Arc::new([]);
        for clock in 1..20 {
            stacks.keep(7, Epoch::new(1, clock), stack.clone(), "");
        }
        assert!(
            stacks
                .of_access(7, Epoch::new(1, 15))
                .is_some_and(|(_, exact)| exact)
        );
        assert!(
            stacks
                .of_access(7, Epoch::new(1, 2))
                .is_some_and(|(_, exact)| !exact)
        );
        assert!(stacks.of_access(7, Epoch::new(2, 15)).is_none());
    }
}
