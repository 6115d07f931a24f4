//! Has the JVM's library call other functions than those it was linked with: in its table of addresses, which the
//! dynamic linker filled when the library was loaded.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// ELF64: entries of the dynamic section, relocations and symbols, as far as they are needed here.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    addend: i64,
}

#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

#[repr(C)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical: u64,
    file_size: u64,
    memory_size: u64,
    align: u64,
}

#[repr(C)]
struct Loaded {
    base: usize,
    name: *const c_char,
    segments: *const Segment,
    count: u16,
}

unsafe extern "C" {
    fn dl_iterate_phdr(
        each: extern "C" fn(*const Loaded, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn mprotect(addr: *mut c_void, len: usize, prot: c_int) -> c_int;
}

const SEGMENT_DYNAMIC: u32 = 2;
const SEGMENT_RELRO: u32 = 0x6474_e552;
const END: i64 = 0;
const PLT_SIZE: i64 = 2;
const STRINGS: i64 = 5;
const SYMBOLS: i64 = 6;
const RELA: i64 = 7;
const RELA_SIZE: i64 = 8;
const PLT: i64 = 23;
/// Relocations that are the address of a symbol: of calls, and of data.
#[cfg(target_arch = "x86_64")]
const ADDRESSES: [u32; 2] = [7, 6];
#[cfg(not(target_arch = "x86_64"))]
const ADDRESSES: [u32; 2] = [1026, 1025];

const PAGE: usize = 4096;
const READ: c_int = 1;
const READ_WRITE: c_int = 3;

/// A function by its name, and what is called in its place.
type Other = (&'static CStr, *mut c_void);

/// Whether all of them could be redirected; if not, some may be.
pub fn redirect(others: &[Other]) -> bool {
    let mut wanted = (others, 0_usize);
    // SAFETY: the callback gets what `Loaded` describes, and our pointer, while we wait.
    unsafe { dl_iterate_phdr(each, (&raw mut wanted).cast()) };
    wanted.1 == others.len()
}

extern "C" fn each(loaded: *const Loaded, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker's own description, good during this call, and the
    // caller's variable.
    let (loaded, wanted) = unsafe { (&*loaded, &mut *data.cast::<(&[Other], usize)>()) };
    // SAFETY: a string, if there is one.
    let name = (!loaded.name.is_null()).then(|| unsafe { CStr::from_ptr(loaded.name) });
    if !name.is_some_and(|name| name.to_bytes().ends_with(b"/libjvm.so")) {
        return 0;
    }
    // SAFETY: the library is loaded, and never unloaded.
    wanted.1 = unsafe { redirect_in(loaded, wanted.0) };
    1
}

/// How many were redirected.
///
/// # Safety
/// The library is loaded and stays so.
unsafe fn redirect_in(loaded: &Loaded, others: &[Other]) -> usize {
    let at = |address: u64| ptr::with_exposed_provenance_mut::<c_void>(address as usize);
    // SAFETY: as many as the linker says.
    let segments =
        unsafe { std::slice::from_raw_parts(loaded.segments, usize::from(loaded.count)) };
    let of_kind = |kind: u32| segments.iter().find(|s| s.kind == kind);
    let Some(dynamic) = of_kind(SEGMENT_DYNAMIC) else {
        return 0;
    };
    let mut entry = at(loaded.base as u64 + dynamic.address).cast::<Dynamic>();
    let (mut strings, mut symbols) = (0, 0);
    let (mut rela, mut rela_size, mut plt, mut plt_size) = (0, 0, 0, 0);
    loop {
        // SAFETY: the dynamic section, whose last entry says that it is.
        let Dynamic { tag, value } = unsafe { entry.read() };
        match tag {
            END => break,
            STRINGS => strings = value,
            SYMBOLS => symbols = value,
            RELA => rela = value,
            RELA_SIZE => rela_size = value,
            PLT => plt = value,
            PLT_SIZE => plt_size = value,
            _ => {}
        }
        // SAFETY: not the last one.
        entry = unsafe { entry.add(1) };
    }
    if strings == 0 || symbols == 0 {
        return 0;
    }
    // Some linkers leave addresses as they stand in the file.
    let base = loaded.base as u64;
    let loaded_at = |value: u64| if value < base { value + base } else { value };
    let (strings, symbols) = (loaded_at(strings), loaded_at(symbols));
    let relro = of_kind(SEGMENT_RELRO).map(|s| {
        let from = loaded.base + s.address as usize;
        // The page where it ends is left open.
        from..(from + s.memory_size as usize) & !(PAGE - 1)
    });
    let mut found = vec![false; others.len()];
    for (table, size) in [(plt, plt_size), (rela, rela_size)] {
        if table == 0 {
            continue;
        }
        let table = at(loaded_at(table)).cast::<Relocation>();
        for i in 0..size as usize / size_of::<Relocation>() {
            // SAFETY: within the table.
            let Relocation { offset, info, .. } = unsafe { table.add(i).read() };
            if !ADDRESSES.contains(&(info as u32)) {
                continue;
            }
            // SAFETY: a symbol that a relocation names, and its name.
            let name = unsafe {
                let symbol = at(symbols).cast::<Symbol>().add((info >> 32) as usize);
                CStr::from_ptr(at(strings + u64::from((*symbol).name)).cast::<c_char>())
            };
            let Some(which) = others.iter().position(|(wanted, _)| *wanted == name) else {
                continue;
            };
            let slot = loaded.base + offset as usize;
            let page = slot & !(PAGE - 1);
            let pages = at(page as u64);
            let is_closed = relro.as_ref().is_some_and(|closed| closed.contains(&slot));
            // SAFETY: the pages with the slot, which the linker has closed or not; a
            // pointer is written at once, and whoever reads it sees the one or the other.
            unsafe {
                if is_closed && mprotect(pages, PAGE, READ_WRITE) != 0 {
                    continue;
                }
                at(slot as u64)
                    .cast::<*mut c_void>()
                    .write_volatile(others[which].1);
                if is_closed {
                    mprotect(pages, PAGE, READ);
                }
            }
            found[which] = true;
        }
    }
    found.iter().filter(|found| **found).count()
}
