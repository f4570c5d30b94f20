//! Launches that follow each other closely, on every device. A backend may submit several at once, and must keep their
//! order, their arguments and their memory.

use sarek::Result;
use sarek::prelude::*;

#[kernel]
fn affine(scale: u32, offset: u32, y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = y[i].wrapping_mul(scale).wrapping_add(offset);
}

#[kernel]
fn add(x: &[u32], y: &mut [u32]) {
    let i = global_idx_x();
    y[i] = y[i].wrapping_add(x[i]);
}

/// The length of the vectors.
const N: usize = 300;

#[test]
fn each_launch_has_its_own_arguments() -> Result<()> {
    for device in Device::all() {
        let mut y = Vector::from(vec![1u32; N]);
        let mut expected = 1u32;
        for (scale, offset) in (3..).zip(0..100) {
            affine(scale, offset, &mut y).over(N).run_on(&device)?;
            expected = expected.wrapping_mul(scale).wrapping_add(offset);
        }
        assert_eq!(y.to_vec()?, [expected; N], "{device}");
    }
    Ok(())
}

#[test]
fn vectors_may_go_before_their_launches_have_run() -> Result<()> {
    for device in Device::all() {
        let mut y = Vector::zeros(N);
        for k in 0..100u32 {
            let x = Vector::from(vec![k; N]);
            add(&x, &mut y).over(N).run_on(&device)?;
        }
        assert_eq!(y.to_vec()?, [4950; N], "{device}");
    }
    Ok(())
}

#[test]
fn copies_stay_between_the_launches() -> Result<()> {
    for device in Device::all() {
        let (mut x, mut y) = (Vector::from(vec![0u32; N]), Vector::zeros(N));
        for k in 0..50u32 {
            add(&x, &mut y).over(N).run_on(&device)?;
            x.copy_from_slice(&[k; N])?;
            add(&x, &mut y).over(N).run_on(&device)?;
            affine(1, 1, &mut x).over(N).run_on(&device)?;
            if k % 7 == 0 {
                assert_eq!(x.to_vec()?, [k + 1; N], "{device}");
            }
        }
        // Turn k adds the vector that the last turn left, whose elements are k, and then k again.
        assert_eq!(y.to_vec()?, [2 * (0..50).sum::<u32>(); N], "{device}");
    }
    Ok(())
}

#[test]
fn a_device_becomes_idle_without_being_waited_for() -> Result<()> {
    for device in Device::all() {
        let mut y = Vector::zeros(N);
        for _ in 0..5 {
            affine(1, 2, &mut y).over(N).run_on(&device)?;
        }
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !device.is_idle()? {
            assert!(std::time::Instant::now() < deadline, "{device} stays busy");
            std::thread::yield_now();
        }
        assert_eq!(y.to_vec()?, [10; N], "{device}");
    }
    Ok(())
}
