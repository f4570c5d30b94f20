//! Profiles: the kernels and transfers that a device performed.

use std::time::Duration;

use sarek::prelude::*;
use sarek::{Clock, Result, WorkKind};

#[kernel]
fn triad(s: f32, b: &[f32], c: &[f32], a: &mut [f32]) {
    let i = global_idx_x();
    a[i] = b[i] + s * c[i];
}

#[test]
fn kernels_and_transfers_are_timed() -> Result<()> {
    let n = 1 << 16;
    for device in Device::all() {
        let (b, c) = (Vector::filled(n, 1.0), Vector::filled(n, 2.0));
        let mut a = Vector::zeros(n);
        triad(3.0, &b, &c, &mut a).over(n).run_on(&device)?;
        let (first, profile) = device.profile(|| {
            for _ in 0..3 {
                triad(3.0, &b, &c, &mut a).over(n).run_on(&device)?;
            }
            a.get(0)
        })?;
        assert_eq!(first, 7.0);
        println!("{profile}");
        let of = |kind| profile.work.iter().filter(move |work| work.kind == kind);
        assert_eq!(of(WorkKind::Kernel).count(), 3, "{device}");
        for work in of(WorkKind::Kernel) {
            assert_eq!((work.name.as_str(), work.threads), ("triad", n as u64));
            assert_eq!((work.read, work.written), (8 * n as u64, 4 * n as u64));
            assert!(work.time < Duration::from_secs(60), "{device}");
            if ["cuda", "opencl"].contains(&device.backend()) {
                assert_eq!(work.clock, Clock::Device, "{device}");
                assert!(!work.time.is_zero(), "{device}");
            }
        }
        let host = device.info().host_memory;
        assert_eq!(
            of(WorkKind::Download).count(),
            usize::from(!host),
            "{device}"
        );
        assert_eq!(
            profile.bandwidth.is_some(),
            device.backend() != "interpreter"
        );
        assert!(profile.trace().contains("\"name\":\"triad\""));
    }
    Ok(())
}
