//! Says of most keys that a partition does not hold them, from memory alone.
//!
//! A binary fuse filter with eight bits a key (Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", ACM JEA 27,
//! 2022): about 9.2 bits of memory for each key, and one wrong "maybe" in 256, each of which costs one read of a block. Sixteen bits would
//! save that read for twice the memory; a new key meets few runs, so the memory is better spent on more keys.

use xorf::{BinaryFuse8, Descriptor, DmaSerializable, Filter as _};

/// Which keys a partition may hold.
#[derive(Debug)]
pub(super) struct Filter(BinaryFuse8);

impl Filter {
    /// The filter of distinct keys; nothing in the practically impossible case that none of many seeds suits them.
    pub(super) fn build(keys: &[u64]) -> Option<Filter> {
        BinaryFuse8::try_from(keys).ok().map(Filter)
    }

    /// False: the key is certainly not in the partition. True: it may be.
    pub(super) fn may_contain(&self, key: u64) -> bool {
        self.0.contains(&key)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + Descriptor::DMA_LEN, 0);
        self.0.dma_copy_descriptor_to(&mut out[start..]);
        out.extend_from_slice(&self.0.fingerprints);
    }

    /// The filter that was encoded; nothing if the bytes cannot be one.
    pub(super) fn decode(bytes: &[u8]) -> Option<Filter> {
        let (head, fingerprints) = bytes.split_at_checked(Descriptor::DMA_LEN)?;
        let seed = u64::from_le_bytes(head[..8].try_into().ok()?);
        let number = |at: usize| Some(u32::from_le_bytes(head[at..at + 4].try_into().ok()?));
        let descriptor = Descriptor {
            seed,
            segment_length: number(8)?,
            segment_length_mask: number(12)?,
            segment_count_length: number(16)?,
        };
        // A look-up reaches into the two segments after the ones it starts from.
        let reach =
            u64::from(descriptor.segment_count_length) + 2 * u64::from(descriptor.segment_length);
        let is_sound = descriptor.segment_length.is_power_of_two()
            && descriptor.segment_length_mask == descriptor.segment_length - 1
            && descriptor
                .segment_count_length
                .is_multiple_of(descriptor.segment_length)
            && reach == fingerprints.len() as u64;
        is_sound.then(|| {
            Filter(BinaryFuse8 {
                descriptor,
                fingerprints: fingerprints.into(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_key_is_denied_before_or_after_storage(keys in prop::collection::hash_set(any::<u64>(), 1..3000)) {
            let keys: Vec<u64> = keys.into_iter().collect();
            let filter = Filter::build(&keys).unwrap();
            let mut bytes = Vec::new();
            filter.encode(&mut bytes);
            let stored = Filter::decode(&bytes).unwrap();
            for key in keys {
                prop_assert!(filter.may_contain(key));
                prop_assert!(stored.may_contain(key));
            }
        }

        #[test]
        fn garbage_never_reaches_beyond_its_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), key: u64) {
            if let Some(filter) = Filter::decode(&bytes) {
                filter.may_contain(key);
            }
        }
    }

    #[test]
    fn few_strangers_pass() {
        let keys: Vec<u64> = (0..50_000_u64)
            .map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        let filter = Filter::build(&keys).unwrap();
        let strangers =
            (1_000_000..1_100_000_u64).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let passed = strangers.filter(|key| filter.may_contain(*key)).count();
        assert!(passed < 600, "{passed} of 100000");
    }
}
