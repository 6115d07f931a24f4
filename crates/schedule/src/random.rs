//! The randomness of runs: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). A
//! counter that goes up by a constant, hashed; passes the usual batteries, has
//! one word of state, and any seed is as good as any other.
//!
//! Fixed for good: seeds in saved reports name runs.

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Uniform below `n`, which must not be 0: the high half of a product, and
    /// another try where that would favour small numbers (Lemire 2019).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        let mut product = u128::from(self.word()) * u128::from(n);
        if (product as u64) < n {
            let uneven = n.wrapping_neg() % n;
            while (product as u64) < uneven {
                product = u128::from(self.word()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// A uniform index of a slice of that length.
    #[inline]
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    #[inline]
    pub fn coin(&mut self) -> bool {
        self.word() >> 63 == 1
    }
}

/// The finaliser of SplitMix64, a bijection that leaves no pattern.
#[inline]
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the reference implementation.
    #[test]
    fn is_splitmix64() {
        let mut rng = Rng::new(1234567);
        let known = [
            6457827717110365317,
            3203168211198807973,
            9817491932198370423,
            4593380528125082431,
            16408922859458223821,
        ];
        assert_eq!([(); 5].map(|()| rng.word()), known);
    }

    #[test]
    fn below_is_even() {
        let mut rng = Rng::new(3);
        for n in [1u64, 2, 3, 7, 10] {
            let mut seen = vec![0u32; n as usize];
            for _ in 0..10_000 {
                seen[rng.below(n) as usize] += 1;
            }
            let expected = 10_000.0 / n as f64;
            for count in seen {
                assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt() + 1.0);
            }
        }
        // Two thirds of the words must be thrown away and drawn again.
        let n = u64::MAX / 3 * 2;
        let high = (0..10_000).filter(|_| rng.below(n) >= n / 2).count();
        assert!((4700..5300).contains(&high), "{high}");
    }
}
