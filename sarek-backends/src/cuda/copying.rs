//! Copies by the processor with non-temporal stores, which bypass its caches.

/// Copies bytes. Set `past_caches` if neither the processor nor the device will read the copy soon.
pub(super) fn copy(from: &[u8], to: &mut [u8], past_caches: bool) {
    assert_eq!(from.len(), to.len());
    #[cfg(target_arch = "x86_64")]
    if past_caches && std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX.
        return unsafe { x86::copy(from, to) };
    }
    let _ = past_caches;
    to.copy_from_slice(from);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__m256i, _mm_sfence, _mm256_loadu_si256, _mm256_stream_si256};

    /// # Safety
    /// The processor has AVX.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn copy(from: &[u8], to: &mut [u8]) {
        // SAFETY: any bytes are vectors.
        let (head, _, _) = unsafe { to.align_to_mut::<__m256i>() };
        let (first, rest) = from.split_at(head.len());
        head.copy_from_slice(first);
        let at = head.len();
        // SAFETY: as above; what comes is aligned.
        let (_, body, tail) = unsafe { to[at..].align_to_mut::<__m256i>() };
        let (middle, last) = rest.split_at(size_of_val(body));
        for (to, from) in body
            .iter_mut()
            .zip(middle.chunks_exact(size_of::<__m256i>()))
        {
            // SAFETY: 32 bytes are there to read, and the place to write is aligned.
            unsafe { _mm256_stream_si256(to, _mm256_loadu_si256(from.as_ptr().cast())) };
        }
        tail.copy_from_slice(last);
        // A fence: only then do other threads see non-temporal stores in order.
        // SAFETY: it has no requirement. Newer versions of Rust declare it safe.
        #[allow(unused_unsafe)]
        unsafe {
            _mm_sfence();
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_bytes_arrive_wherever_they_begin_and_end() {
        let from: Vec<u8> = (0..4096).map(|i| (i * 7 % 251) as u8).collect();
        for past_caches in [false, true] {
            for (at, len) in [(0, 4096), (1, 100), (31, 33), (5, 0), (7, 3), (64, 1024)] {
                let mut to = vec![0; 5000];
                super::copy(
                    &from[at..at + len],
                    &mut to[at + 3..at + 3 + len],
                    past_caches,
                );
                assert_eq!(to[at + 3..at + 3 + len], from[at..at + len]);
                assert!(to[..at + 3].iter().all(|byte| *byte == 0));
                assert!(to[at + 3 + len..].iter().all(|byte| *byte == 0));
            }
        }
    }
}
