//! Probes of the methods that make up a virtual thread on its carrier (JDK 21 and later).
//!
//! `java.lang.VirtualThread` hands continuations over through volatiles, compare-and-sets and the queues
//! of a fork/join pool. None of that is the program's: what orders are start, join and interrupt,
//! and the end of a thread for those who wait for all threads of an executor or a scope.

use crate::bracket::Bracket;
use crate::method::{WeaveError, Weaver, field_desc};
use crate::models::Hook;
use crate::probes::{self, Probe};
use crate::site::SiteKind;

impl Weaver<'_, '_, '_> {
    pub(crate) fn virtual_thread(
        &mut self,
        b: &mut Bracket,
        hook: Hook,
    ) -> Result<bool, WeaveError> {
        match hook {
            Hook::VirtualStart => {
                self.at_entry(b, probes::VIRTUAL_START)?;
                self.silence(b)?;
            }
            Hook::VirtualRun => {
                b.returns.push(self.snippet(probes::VIRTUAL_END, |_| {})?);
                b.thrown.push((probes::VIRTUAL_END, None));
            }
            Hook::Mounts => self.silence(b)?,
            Hook::Joined | Hook::VirtualJoin => {
                if hook == Hook::VirtualJoin {
                    self.silence(b)?;
                }
                b.returns.push(self.snippet(probes::THREAD_JOINED, |a| {
                    a.dup().aload(0);
                })?);
            }
            // From JDK 24 on it hands over a thread that waits.
            Hook::Interrupt => {
                self.at_entry(b, probes::INTERRUPTING)?;
                self.silence(b)?;
            }
            Hook::InterruptSeen => b.returns.push(self.snippet(probes::INTERRUPT_SEEN, |a| {
                a.aload(0);
            })?),
            Hook::Wait => {
                self.at_entry(b, probes::VIRTUAL_WAITING)?;
                b.returns
                    .push(self.snippet(probes::VIRTUAL_WAITED, |_| {})?);
                b.thrown.push((probes::VIRTUAL_WAITED, None));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn at_entry(&mut self, b: &mut Bracket, probe: Probe) -> Result<(), WeaveError> {
        b.entry.push(self.snippet(probe, |a| {
            a.aload(0);
        })?);
        Ok(())
    }

    /// Acquires the key when the method returns, `asks`: if it returns true.
    pub(crate) fn once_done(
        &mut self,
        b: &mut Bracket,
        key: &str,
        asks: bool,
    ) -> Result<bool, WeaveError> {
        let key_desc = match key {
            "" => None,
            key => match field_desc(&self.cx.class, key) {
                None => return Ok(false),
                desc => desc,
            },
        };
        let site = self.site_at(SiteKind::Model, 0);
        let name = self.cx.name.clone();
        let probe = [probes::SYNC_ACQUIRE, probes::SYNC_ACQUIRE_IF][usize::from(asks)];
        b.returns.push(self.snippet(probe, |a| {
            if asks {
                a.dup();
            }
            a.aload(0);
            if let Some(desc) = &key_desc {
                a.getfield(&name, key, desc);
            }
            a.push_int(site);
        })?);
        Ok(true)
    }
}
