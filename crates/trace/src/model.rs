//! What both ends of the codec remember while they walk through a chunk, so
//! that most events can be written as "as expected".
//!
//! Programs repeat themselves: after a statement usually comes the statement
//! that came after it the last time (or the time before), and a statement
//! usually touches the object it touched the last time, or the one touched
//! just now; in arrays it touches the next element. So for each site the model
//! keeps the two sites that followed it, the object, the slot and the last
//! odd step between slots; and beside that a small table of recent objects.
//! The tables are indexed by a few bits of the key without any check for
//! collisions: a wrong guess costs bytes, never correctness, because encoder
//! and decoder make the same guesses. Everything starts at zero in each chunk.
//!
//! The encoder asks the model for the codes; the decoder gives it the codes.
//! Both update it the same way. The numbers here are part of the format.

use encoding::varint::{Input, put, unzigzag, zigzag};

const SITES: usize = 256;
const OBJECTS: usize = 256;

/// Two-bit codes, at these places of the byte that holds them.
pub(crate) const OBJ_AT: u32 = 1;
pub(crate) const SLOT_AT: u32 = 3;
pub(crate) const SITE_AT: u32 = 5;

const SITE_NEXT: u8 = 0;
const SITE_OTHER: u8 = 1;
const SITE_DELTA: u8 = 2;

const OBJ_HERE: u8 = 0;
const OBJ_LAST: u8 = 1;
const OBJ_RECENT: u8 = 2;
const OBJ_DELTA: u8 = 3;

const SLOT_SAME: u8 = 0;
const SLOT_UP: u8 = 1;
const SLOT_DELTA: u8 = 2;
const SLOT_STRIDE: u8 = 3;

#[derive(Clone, Copy, Debug, Default)]
struct SiteState {
    obj: u64,
    slot: u32,
    stride: u32,
    next: u32,
    other: u32,
}

#[derive(Debug)]
pub(crate) struct Model {
    sites: Box<[SiteState; SITES]>,
    recent: Box<[u64; OBJECTS]>,
    last_site: u32,
    last_obj: u64,
}

#[inline]
fn row(site: u32) -> usize {
    site as usize % SITES
}

#[inline]
fn place(obj: u64) -> usize {
    (obj.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize % OBJECTS
}

impl Model {
    pub(crate) fn new() -> Self {
        Model {
            sites: Box::new([SiteState::default(); SITES]),
            recent: Box::new([0; OBJECTS]),
            last_site: 0,
            last_obj: 0,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.sites.fill(SiteState::default());
        self.recent.fill(0);
        self.last_site = 0;
        self.last_obj = 0;
    }

    /// Appends the operands of an event to `out` and returns its codes, each
    /// at its place. `slot` is `None` for events that have none.
    #[inline]
    pub(crate) fn encode(
        &mut self,
        site: u32,
        obj: u64,
        slot: Option<u32>,
        out: &mut Vec<u8>,
    ) -> u8 {
        let mut codes = 0;
        let last_site = self.last_site;
        let before = &mut self.sites[row(last_site)];
        if site != before.next {
            if site == before.other {
                codes |= SITE_OTHER << SITE_AT;
            } else {
                codes |= SITE_DELTA << SITE_AT;
                put(out, zigzag(i64::from(site) - i64::from(last_site)));
            }
            before.other = before.next;
            before.next = site;
        }

        let here = &mut self.sites[row(site)];
        if obj != here.obj {
            if obj == self.last_obj {
                codes |= OBJ_LAST << OBJ_AT;
            } else {
                let place = place(obj);
                if self.recent[place] == obj {
                    codes |= OBJ_RECENT << OBJ_AT;
                    out.push(place as u8);
                } else {
                    codes |= OBJ_DELTA << OBJ_AT;
                    let base = delta_base(here.obj, self.last_obj);
                    put(out, zigzag(obj.wrapping_sub(base) as i64));
                    self.recent[place] = obj;
                }
            }
            here.obj = obj;
        }

        if let Some(slot) = slot {
            let step = slot.wrapping_sub(here.slot);
            if step != 0 {
                if step == 1 {
                    codes |= SLOT_UP << SLOT_AT;
                } else if step == here.stride {
                    codes |= SLOT_STRIDE << SLOT_AT;
                } else {
                    codes |= SLOT_DELTA << SLOT_AT;
                    put(out, zigzag(i64::from(step as i32)));
                    here.stride = step;
                }
                here.slot = slot;
            }
        }
        self.last_site = site;
        self.last_obj = obj;
        codes
    }

    /// The site, operand and slot that `codes` and the bytes of `input` stand
    /// for. The slot means nothing for events that have none.
    #[inline]
    pub(crate) fn decode(&mut self, codes: u8, input: &mut Input<'_>) -> Option<(u32, u64, u32)> {
        let last_site = self.last_site;
        let before = &mut self.sites[row(last_site)];
        let site = match codes >> SITE_AT & 3 {
            SITE_NEXT => before.next,
            code => {
                let site = match code {
                    SITE_OTHER => before.other,
                    SITE_DELTA => {
                        let delta = unzigzag(input.u64()?);
                        u32::try_from(i64::from(last_site).checked_add(delta)?).ok()?
                    }
                    _ => return None,
                };
                before.other = before.next;
                before.next = site;
                site
            }
        };

        let here = &mut self.sites[row(site)];
        let obj = match codes >> OBJ_AT & 3 {
            OBJ_HERE => here.obj,
            OBJ_LAST => self.last_obj,
            OBJ_RECENT => self.recent[input.byte()? as usize % OBJECTS],
            _ => {
                let base = delta_base(here.obj, self.last_obj);
                let obj = base.wrapping_add(unzigzag(input.u64()?) as u64);
                self.recent[place(obj)] = obj;
                obj
            }
        };
        here.obj = obj;

        let slot = match codes >> SLOT_AT & 3 {
            SLOT_SAME => here.slot,
            SLOT_UP => here.slot.wrapping_add(1),
            SLOT_STRIDE => here.slot.wrapping_add(here.stride),
            _ => {
                let step = i32::try_from(unzigzag(input.u64()?)).ok()? as u32;
                here.stride = step;
                here.slot.wrapping_add(step)
            }
        };
        here.slot = slot;
        self.last_site = site;
        self.last_obj = obj;
        Some((site, obj, slot))
    }
}

/// A site that was never here has no object to count from.
#[inline]
fn delta_base(here: u64, last: u64) -> u64 {
    if here == 0 { last } else { here }
}
