use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::testing::gpu::GpuBackend;
use crate::testing::kernels::{self, axpy_call as axpy};
use crate::testing::{device, host, two_gpus};
use crate::{Launch, Vector};

fn gpu(graphs: bool) -> Device {
    let backend = GpuBackend::new("gpu", 9);
    backend.stats.graphs.store(graphs, Relaxed);
    device(&backend).0
}

/// One device with driver graphs, one without, and the host.
fn all() -> [Device; 3] {
    [gpu(true), gpu(false), host()]
}

fn ones(len: usize) -> Vector<f32> {
    Vector::filled(len, 1.0)
}

#[test]
fn replays_see_what_the_host_wrote_and_reads_wait_for_them() {
    for device in all() {
        let (mut x, mut y) = (ones(4), Vector::zeros(4));
        let mut recording = device.record_graph();
        recording.launch(axpy(2.0, &x, &mut y).over(4)).unwrap();
        recording.launch(axpy(1.0, &y, &mut x).over(4)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [0.0; 4], "recording runs nothing");
        let graph = recording.finish();
        assert_eq!(graph.len(), 2);
        graph.replay((&mut x, &mut y)).unwrap();
        assert_eq!((y.get(0).unwrap(), x.get(0).unwrap()), (2.0, 3.0));
        // The order of the vectors does not matter.
        graph.replay((&mut y, &mut x)).unwrap();
        graph.replay((&mut y, &mut x)).unwrap();
        assert_eq!(
            (y.get(1).unwrap(), x.get(1).unwrap()),
            (30.0, 41.0),
            "{device}"
        );
        x.fill(1.0).unwrap();
        y.set(3, 10.0).unwrap();
        graph.replay((&mut y, &mut x)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [32.0, 32.0, 32.0, 12.0], "{device}");
        assert_eq!(x.to_vec().unwrap(), [33.0, 33.0, 33.0, 13.0], "{device}");
    }
}

#[test]
fn copies_and_fills_are_part_of_it() {
    for device in all() {
        let (x, mut y) = (ones(4), ones(4));
        let (mut z, mut w) = (Vector::zeros(6), ones(2));
        let mut recording = device.record_graph();
        recording.fill(&mut z, 7.0).unwrap();
        recording.fill(&mut w, 0.0).unwrap();
        recording.launch(axpy(2.0, &x, &mut y).over(4)).unwrap();
        recording.copy(&mut z, 1, &y, 2..4).unwrap();
        let graph = recording.finish();
        for (last, due) in [(5.0, 3.0), (6.0, 5.0)] {
            // An overwritten vector need not be readable.
            z.set(5, last).unwrap();
            y.set(3, 0.0).unwrap();
            graph.replay((&x, &mut y, &mut z, &mut w)).unwrap();
            let got = z.to_vec().unwrap();
            assert_eq!(got, [7.0, due, 2.0, 7.0, 7.0, 7.0], "{device}");
            assert_eq!(w.to_vec().unwrap(), [0.0; 2]);
        }
    }
}

#[test]
fn what_is_overwritten_is_readable_again() {
    for device in all() {
        let (x, mut y) = (ones(1), ones(2));
        let lost = axpy(1.0, &x, &mut y).over(2).run_on(&device);
        let lost = lost.and_then(|()| y.to_vec());
        assert!(matches!(lost, Err(Error::Fault(_))), "{device}");
        let mut recording = device.record_graph();
        recording.fill(&mut y, 3.0).unwrap();
        let graph = recording.finish();
        graph.replay(&mut y).unwrap();
        assert_eq!(y.to_vec().unwrap(), [3.0; 2]);
        let _reported = device.sync();
    }
}

#[test]
fn a_fault_is_that_of_all_that_is_written_until_it_is_rewritten() {
    for device in all() {
        let (mut x, mut y, mut z) = (ones(1), ones(1), ones(2));
        let mut recording = device.record_graph();
        recording.launch(axpy(1.0, &x, &mut y).over(1)).unwrap();
        recording.launch(axpy(1.0, &y, &mut z).over(2)).unwrap();
        let graph = recording.finish();
        let outcome = graph.replay((&x, &mut y, &mut z));
        let outcome = outcome.and_then(|()| y.to_vec().map(drop));
        assert!(
            matches!(outcome, Err(Error::Fault(_))),
            "{device}: {outcome:?}"
        );
        assert!(matches!(z.to_vec(), Err(Error::Fault(_))));
        assert_eq!(x.to_vec().unwrap(), [1.0]);
        device.sync().unwrap();
        // The next replay's inputs are unreadable: it is refused, and the device still works.
        assert!(graph.replay((&x, &mut y, &mut z)).is_err());
        y.fill(0.0).unwrap();
        z.fill(0.0).unwrap();
        let event = graph.replay_on(&device.new_stream().unwrap(), (&x, &mut y, &mut z));
        let outcome = event.and_then(|event| event.sync());
        assert!(
            matches!(outcome, Err(Error::Fault(_))),
            "{device}: {outcome:?}"
        );
        x.fill(0.0).unwrap();
        axpy(1.0, &x, &mut x.clone())
            .over(1)
            .run_on(&device)
            .unwrap();
        device.sync().unwrap();
    }
}

#[test]
fn each_replay_has_its_own_outcome() {
    for graphs in [true, false] {
        let device = gpu(graphs);
        let (x, mut y) = (ones(2), ones(2));
        let (short, mut kept) = (ones(1), ones(2));
        let mut recording = device.record_graph();
        recording.launch(axpy(1.0, &x, &mut y).over(2)).unwrap();
        let good = recording.finish();
        let mut recording = device.record_graph();
        recording.launch(axpy(1.0, &short, &mut y).over(2)).unwrap();
        let bad = recording.finish();
        good.replay((&x, &mut y)).unwrap();
        kept.copy_from(0, &y, ..).unwrap();
        bad.replay((&short, &mut y)).unwrap();
        assert_eq!(kept.to_vec().unwrap(), [2.0; 2]);
        assert!(y.to_vec().is_err());
    }
}

#[test]
fn a_driver_launches_it_as_a_whole() {
    let backend = GpuBackend::new("gpu", 9);
    backend.stats.graphs.store(true, Relaxed);
    let (device, stats) = device(&backend);
    let (x, mut y) = (ones(4), Vector::zeros(4));
    let mut recording = device.record_graph();
    for _ in 0..3 {
        recording.launch(axpy(1.0, &x, &mut y).over(4)).unwrap();
    }
    let graph = recording.finish();
    let [one, two] = [device.stream(), device.new_stream().unwrap()];
    for stream in [&one, &two, &two, &one] {
        drop(graph.replay_on(stream, (&x, &mut y)).unwrap());
    }
    assert_eq!(stats.launches.load(Relaxed), 0);
    assert_eq!(stats.replays.load(Relaxed), 4);
    assert_eq!(y.to_vec().unwrap(), [12.0; 4]);
    assert!(format!("{graph:?}").contains("3 operations on fake GPU (gpu:0), as one launch"));
    // Vectors that moved are found in their new places.
    let mut y = y
        .stored_in(&crate::plugin::tag::StorageKind::device())
        .unwrap();
    let _other = axpy(1.0, &x, &mut ones(4)).over(4).run_on(&device);
    graph.replay((&x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [15.0; 4]);
}

#[test]
fn what_was_not_recorded_is_refused() {
    for device in all() {
        let (x, mut y, z) = (ones(4), ones(4), ones(4));
        let mut recording = device.record_graph();
        recording.launch(axpy(1.0, &x, &mut y).over(4)).unwrap();
        let error = recording.copy(&mut y, 3, &x, ..).unwrap_err();
        assert!(matches!(error, Error::Range { .. }));
        let graph = recording.finish();
        let text = |result: Result<()>| result.unwrap_err().to_string();
        let missing = text(graph.replay(&x));
        assert!(
            missing.contains("the argument `y` of `axpy` is missing"),
            "{missing}"
        );
        let wrong = text(graph.replay((&x, &y)));
        assert!(wrong.contains("give it as `&mut`"), "{wrong}");
        let other = text(graph.replay((&x, &mut y, &z)));
        assert!(
            other.contains("none of those that were recorded: `x` of `axpy`, `y` of `axpy` (&mut)"),
            "{other}"
        );
        let copy = text(graph.replay((&x.clone(), &mut y)));
        assert!(copy.contains("number 0"), "{copy}");
        let scalar = text(graph.replay([2.0f32.into()]));
        assert!(scalar.contains("takes vectors"), "{scalar}");
        let [(elsewhere, _), _] = two_gpus();
        let elsewhere = graph.replay_on(&elsewhere.stream(), (&x, &mut y)).map(drop);
        assert!(text(elsewhere).contains("cannot be replayed on"));
    }
}

#[test]
fn replays_on_two_streams_do_not_share_their_records() {
    // The kernel only reads, so that no vector makes one replay wait for the other; but it may
    // fault.
    let def = kernels::axpy();
    let mut ir = sarek_ir::Kernel::clone(def.ir);
    ir.name = "reads".into();
    ir.params.to_mut()[2].kind = ir.params[1].kind;
    ir.sites.to_mut()[0].provable = false;
    let def = kernels::leak(kernels::def(ir, def.direct.run));
    let device = gpu(true);
    let (x, y) = (ones(4), ones(4));
    let mut recording = device.record_graph();
    let args = [1.0f32.into(), (&x).into(), (&y).into()];
    // SAFETY: the arguments are those of the definition, which the fake device does not run.
    let launch: Launch<'_> = unsafe { Launch::of(def, args) };
    recording.launch(launch.over(5)).unwrap();
    let graph = recording.finish();
    let [a, b] = [device.new_stream().unwrap(), device.new_stream().unwrap()];
    drop(graph.replay_on(&a, (&x, &y)).unwrap());
    drop(graph.replay_on(&b, (&x, &y)).unwrap());
    assert!(!a.is_idle().unwrap());
    b.sync().unwrap();
    assert!(a.is_idle().unwrap());
}

#[test]
fn empty_operations_do_nothing() {
    for device in all() {
        let (x, mut y, mut z) = (ones(0), ones(0), ones(4));
        let mut recording = device.record_graph();
        recording.launch(axpy(1.0, &x, &mut y).over(0)).unwrap();
        recording.copy(&mut z, 4, &y, ..).unwrap();
        recording.fill(&mut y, 2.0).unwrap();
        let graph = recording.finish();
        assert!(graph.is_empty());
        graph.replay((&x, &mut y, &mut z)).unwrap();
        assert_eq!(z.to_vec().unwrap(), [1.0; 4]);
        let mut recording = device.record_graph();
        recording.launch(axpy(1.0, &z, &mut y).over(0)).unwrap();
        recording.fill(&mut z, 3.0).unwrap();
        recording.finish().replay((&mut z, &mut y)).unwrap();
        assert_eq!(z.to_vec().unwrap(), [3.0; 4]);
    }
}

/// A graph outlives the vectors that it was recorded with, and the memory that one of them had
/// borrowed.
#[test]
fn no_memory_of_vectors_is_kept() {
    for (graphs, sets) in [(true, true), (false, true), (false, false)] {
        let backend = GpuBackend::with("unified", 9, |info| info.unified = true);
        backend.stats.graphs.store(graphs, Relaxed);
        let (device, stats) = device(&backend);
        let mut memory = vec![1.0f32; 1 << 10];
        let at = memory.as_ptr();
        let x = ones(1 << 10);
        x.prefetch(&device.stream()).unwrap();
        let before = stats.live.load(Relaxed);
        let replayed = Vector::with_slice_mut(&mut memory, |y| {
            y.store_in(&crate::plugin::tag::StorageKind::zero_copy())?;
            let mut recording = device.record_graph();
            recording.launch(axpy(1.0, &x, y).over(1 << 10))?;
            let mut graph = recording.finish();
            graph.replay((&x, &mut *y))?;
            if sets {
                graph.set_scalar("a", 1.0f32)?;
            }
            graph.replay((&x, &mut *y))?;
            assert_eq!(y.as_slice()?.as_ptr(), at);
            Ok::<_, Error>(graph)
        });
        let graph = replayed.unwrap().unwrap();
        assert_eq!(
            stats.live.load(Relaxed),
            before,
            "what `y` had is given back"
        );
        assert_eq!(memory[7], 3.0);
        drop(memory);
        drop(graph);
        // The driver's graph may keep the memory of vectors that are not in host memory.
        let mut y = ones(4);
        let mut recording = device.record_graph();
        recording.launch(axpy(1.0, &x, &mut y).over(4)).unwrap();
        recording.finish().replay((&x, &mut y)).unwrap();
        assert_eq!(stats.replays.load(Relaxed), usize::from(graphs));
    }
}

#[test]
fn scalars_are_set_in_the_drivers_graph() {
    let backend = GpuBackend::new("gpu", 9);
    backend.stats.graphs.store(true, Relaxed);
    let (device, stats) = device(&backend);
    let (x, mut y) = (ones(4), Vector::zeros(4));
    let (mut w, mut z) = (ones(4), ones(4));
    let mut recording = device.record_graph();
    recording.fill(&mut w, 0.0).unwrap();
    recording.launch(axpy(1.0, &x, &mut y).over(4)).unwrap();
    recording.launch(axpy(2.0, &x, &mut y).over(0)).unwrap();
    // The launch may fault, so its record is cleared first.
    recording.launch(axpy(3.0, &y, &mut z).over(5)).unwrap();
    let mut graph = recording.finish();
    let replay = |graph: &Graph, y: &mut Vector<f32>, z: &mut Vector<f32>, w: &mut _| {
        y.fill(0.0).unwrap();
        z.fill(0.0).unwrap();
        graph.replay((&x, &mut *y, &mut *z, w)).unwrap();
        assert!(z.to_vec().is_err());
        let _reported = device.sync();
    };
    // Before the driver's graph exists, and then in the existing one.
    graph.set_scalar_of(0, "a", 5.0f32).unwrap();
    replay(&graph, &mut y, &mut z, &mut w);
    assert_eq!(stats.updates.load(Relaxed), 0);
    for (at, due) in [(0, 7.0f32), (2, 9.0)] {
        graph.set_scalar_of(at, "axpy.a", due).unwrap();
    }
    assert_eq!(stats.updates.load(Relaxed), 2);
    let (short, mut sum) = (ones(4), ones(4));
    let mut recording = device.record_graph();
    recording
        .launch(axpy(1.0, &short, &mut sum).over(4))
        .unwrap();
    let mut other = recording.finish();
    for factor in [2.0f32, 3.0, 4.0] {
        other.replay((&short, &mut sum)).unwrap();
        other.set_scalar("a", factor).unwrap();
    }
    other.replay((&short, &mut sum)).unwrap();
    assert_eq!(
        sum.to_vec().unwrap(),
        [11.0; 4],
        "replays keep what they were queued with"
    );
    replay(&graph, &mut y, &mut z, &mut w);
    assert_eq!(stats.launches.load(Relaxed), 0);
    let text = |result: Result<()>| result.unwrap_err().to_string();
    let empty = text(graph.set_scalar_of(1, "a", 1.0f32));
    assert!(empty.contains("number 1 is empty"), "{empty}");
    let none = text(graph.set_scalar_of(3, "a", 1.0f32));
    assert!(none.contains("no launch number 3, but 3"), "{none}");
    let unknown = text(graph.set_scalar_of(0, "x", 1.0f32));
    assert!(
        unknown.contains("has a scalar `x`; there are axpy.a"),
        "{unknown}"
    );
    let typed = text(graph.set_scalar("a", 1u32));
    assert!(typed.contains("`a` of `axpy` is f32, not u32"), "{typed}");
}
