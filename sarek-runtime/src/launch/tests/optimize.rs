//! Tests of the planner of the optimizer.

use super::super::optimize::Kept;
use super::super::plan::Plan;
use super::*;
use crate::plugin::tag::DeviceKind;

/// The plan of `axpy` over `n` elements on a GPU.
fn planned(n: usize, optimize: bool, change: impl FnOnce(&mut Call<'_>)) -> Plan {
    let gpu = GpuBackend::with("gpu", 1, |info| info.kind = DeviceKind::gpu());
    planned_on(&gpu, n, optimize, change)
}

fn planned_on(
    gpu: &Arc<GpuBackend>,
    n: usize,
    optimize: bool,
    change: impl FnOnce(&mut Call<'_>),
) -> Plan {
    let mut def = kernels::axpy();
    def.optimize = optimize;
    let def = kernels::leak(def);
    let (x, mut y) = (Vector::<f32>::zeros(n), Vector::<f32>::zeros(n));
    // SAFETY: these are the arguments of `axpy`.
    let launch: Launch<'_> =
        unsafe { Launch::of(def, [1.0f32.into(), (&x).into(), (&mut y).into()]) };
    let mut ready = launch.over(n);
    change(&mut ready.call);
    ready.plan(&device(gpu).0).unwrap()
}

fn kept(plan: &Plan) -> Option<Kept> {
    plan.optimized.as_ref()?.as_ref().err().copied()
}

#[test]
fn a_large_launch_starts_fewer_threads() {
    let n = 1 << 20;
    let plan = planned(n, true, |_| ());
    assert_eq!(plan.asked.extent, [n as u64, 1, 1]);
    assert_eq!(plan.space.extent, [n as u64 / 4, 1, 1]);
    assert_eq!(
        u64::from(plan.grid[0]) * u64::from(plan.space.block[0]),
        n as u64 / 4
    );
    // Lanes that do not exist are left out by the kernel.
    let plan = planned(n + 1, true, |_| ());
    assert_eq!(plan.space.extent, [n as u64 / 4 + 1, 1, 1]);
}

#[test]
fn other_launches_run_as_written() {
    let n = 1 << 20;
    assert_eq!(kept(&planned(1000, true, |_| ())), Some(Kept::Small));
    assert_eq!(kept(&planned(n, false, |_| ())), Some(Kept::Forbidden));
    // A replay may bind vectors that begin anywhere.
    assert_eq!(
        kept(&planned(n, true, |call| call.rebound = true)),
        Some(Kept::NoPattern)
    );
    let software = GpuBackend::new("software", 1);
    assert_eq!(
        kept(&planned_on(&software, n, true, |_| ())),
        Some(Kept::NoGpu)
    );
    let plan = planned_on(&software, n, true, |_| ());
    assert_eq!(plan.space, plan.asked);
}
