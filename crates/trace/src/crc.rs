//! CRC-32 (the one of zip and PNG: reflected, polynomial 0xEDB88320), eight
//! bytes a step. It guards every chunk against torn writes and flipped bits;
//! it is no protection against somebody who means harm.

const POLYNOMIAL: u32 = 0xEDB8_8320;

const TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut t = [[0u32; 256]; 8];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ POLYNOMIAL
            } else {
                crc >> 1
            };
            bit += 1;
        }
        t[0][i] = crc;
        i += 1;
    }
    // Table k advances a byte past k more zero bytes.
    let mut k = 1;
    while k < 8 {
        let mut i = 0;
        while i < 256 {
            let before = t[k - 1][i];
            t[k][i] = (before >> 8) ^ t[0][(before & 0xff) as usize];
            i += 1;
        }
        k += 1;
    }
    t
}

/// The checksum of several slices as if they were one.
pub(crate) fn crc32(parts: &[&[u8]]) -> u32 {
    let mut crc = !0u32;
    for part in parts {
        let mut eights = part.chunks_exact(8);
        for e in &mut eights {
            let low = crc ^ u32::from_le_bytes([e[0], e[1], e[2], e[3]]);
            crc = TABLES[7][(low & 0xff) as usize]
                ^ TABLES[6][(low >> 8 & 0xff) as usize]
                ^ TABLES[5][(low >> 16 & 0xff) as usize]
                ^ TABLES[4][(low >> 24) as usize]
                ^ TABLES[3][e[4] as usize]
                ^ TABLES[2][e[5] as usize]
                ^ TABLES[1][e[6] as usize]
                ^ TABLES[0][e[7] as usize];
        }
        for &b in eights.remainder() {
            crc = (crc >> 8) ^ TABLES[0][((crc ^ u32::from(b)) & 0xff) as usize];
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_check_value() {
        assert_eq!(crc32(&[b"123456789"]), 0xCBF4_3926);
        assert_eq!(crc32(&[b"1234", b"", b"56789"]), 0xCBF4_3926);
    }
}
