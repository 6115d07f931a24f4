//! A monitor held through a whole method: what `synchronized` on a method means,
//! written out.
//!
//! ```text
//!         (the object into local k); aload k; monitorenter
//! A:      body, with "aload k; monitorexit" before each return
//! H:      ..; aload k; monitorexit; athrow
//! R:      aload k; monitorexit; athrow
//!         any exception in A..H, the returns left out, goes to H;
//!         any in H before its athrow goes to R
//! ```
//!
//! HotSpot compiles a method only if it can see that its locks are balanced: on
//! every path, also those of exceptions, what is given back is the object in the
//! very local that was locked. So the local must live through the method, and
//! every stack map frame must name it. Frames say nothing about locals by
//! themselves, only how they differ from the frame before; those that differ are
//! written out in full, with the local behind all others.
//!
//! R is there because what comes first in H may throw (the stack may be full).

use crate::code::Code;
use crate::kept::{Kept, Slot};
use crate::{ClassFile, EditError, PoolFull, Snippet};

#[derive(Debug)]
pub(crate) struct Hold {
    pub local: u16,
    /// New pc of A.
    pub from: u32,
    /// R.
    pub release: Snippet,
}

impl Hold {
    pub fn new(local: u16, from: u32, class: &mut ClassFile<'_>) -> Result<Hold, PoolFull> {
        let release = Snippet::new(&mut class.pool)
            .aload(local)
            .monitorexit()
            .athrow()
            .finish()?;
        Ok(Hold {
            local,
            from,
            release,
        })
    }

    /// What frames need to know.
    pub fn kept(&self, class: &mut ClassFile<'_>, code: &Code<'_>) -> Result<Kept, EditError> {
        let object = class.pool.add_class("java/lang/Object")?;
        let mut kept = Kept::new(class, code)?;
        kept.add(self.local, Slot::Object, object);
        Ok(kept)
    }
}
