//! Tests of launch faults: the vectors they affect, and the calls that report them.

use super::*;

#[test]
fn a_host_fault_names_everything_and_sticks_until_the_vector_is_rewritten() {
    let x = Vector::from_vec(vec![1.0, 2.0]);
    let mut y = Vector::filled(3, 10.0);
    let device = testing::host();
    let error = axpy(2.0, &x, &mut y).over(3).run_on(&device).unwrap_err();
    let Error::Fault(fault) = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (fault.kernel.as_str(), fault.line, fault.thread),
        ("axpy", 3, [2, 0, 0])
    );
    let expected = FaultKind::Index {
        argument: "x".into(),
        index: 2,
        len: 2,
    };
    assert_eq!(fault.kind, expected);
    assert!(x.to_vec().is_ok());
    assert_eq!(y.to_vec().unwrap_err().to_string(), error.to_string());
    assert!(
        axpy(1.0, &y, &mut Vector::zeros(3))
            .over(3)
            .run_on(&device)
            .is_err()
    );
    y.fill(0.0).unwrap();
    axpy(1.0, &x, &mut y).over(2).run_on(&device).unwrap();
    assert_eq!(y.to_vec().unwrap(), [1.0, 2.0, 0.0]);
}

#[test]
fn a_host_backends_error_poisons_what_it_may_have_written() {
    let broken = changed(|k| k.name = "broken".into());
    let x = Vector::zeros(2);
    let mut y = Vector::zeros(2);
    let error = broken(&x, &mut y)
        .over(2)
        .run_on(&testing::host())
        .unwrap_err();
    assert!(matches!(error, Error::Device { .. }));
    assert!(x.to_vec().is_ok() && y.to_vec().is_err());
}

#[test]
fn a_device_fault_sticks_to_the_vectors_and_is_reported_once_elsewhere() {
    let [(device, _), (other, _)] = two_gpus();
    let x = Vector::from_vec(vec![1.0, 2.0]);
    let mut y = Vector::zeros(3);
    let mut z = Vector::zeros(3);
    axpy(1.0, &x, &mut y).over(3).run_on(&device).unwrap();
    // A launch that uses the result before the fault is known is lost as well, on any device.
    axpy(1.0, &y, &mut z).over(3).run_on(&device).unwrap();
    assert_eq!(index_of_x(&device.sync().unwrap_err()), 2);
    device.sync().unwrap();
    for _ in 0..2 {
        assert_eq!(index_of_x(&y.to_vec().unwrap_err()), 2);
        assert_eq!(index_of_x(&z.get(0).unwrap_err()), 2);
    }
    assert!(axpy(1.0, &x, &mut z).over(2).run_on(&other).is_err());
    assert!(format!("{z:?}").contains("lost"));
    // The device still works, and so does the vector once it is rewritten.
    z.fill(1.0).unwrap();
    axpy(1.0, &x, &mut z).over(2).run_on(&device).unwrap();
    assert_eq!(z.to_vec().unwrap(), [2.0, 3.0, 1.0]);
    device.sync().unwrap();
}

#[test]
fn a_fault_that_a_read_reported_is_not_reported_again() {
    let [(device, _), _] = two_gpus();
    let x = Vector::zeros(1);
    let mut y = Vector::zeros(2);
    let stream = device.new_stream().unwrap();
    let event = axpy(1.0, &x, &mut y).over(2).enqueue(&stream).unwrap();
    assert_eq!(index_of_x(&y.to_vec().unwrap_err()), 1);
    event.sync().unwrap();
    stream.sync().unwrap();
    device.sync().unwrap();
    y.fill(0.0).unwrap();
    let event = axpy(1.0, &x, &mut y).over(2).enqueue(&stream).unwrap();
    drop(y);
    assert_eq!(index_of_x(&event.sync().unwrap_err()), 1);
    stream.sync().unwrap();
}

#[test]
fn a_dropped_streams_fault_is_reported_by_the_device() {
    let [(device, _), _] = two_gpus();
    let x = Vector::zeros(1);
    let mut y = Vector::zeros(2);
    let stream = device.new_stream().unwrap();
    let _event = axpy(1.0, &x, &mut y).over(2).enqueue(&stream).unwrap();
    drop((stream, _event, y));
    let _other = device.new_stream().unwrap();
    assert!(device.sync().is_err());
    device.sync().unwrap();
}

#[test]
fn many_launches_that_might_fault_are_settled_in_between() {
    let [(device, stats), _] = two_gpus();
    let x = Vector::zeros(4);
    for _ in 0..2500 {
        // The results are not read; all of them are lost.
        let mut y = Vector::zeros(5);
        axpy(1.0, &x, &mut y).over(5).run_on(&device).unwrap();
    }
    // Many fault records are read at a time.
    let read = stats.downloads.load(Relaxed);
    assert!((20..60).contains(&read), "{read} times");
    assert_eq!(index_of_x(&device.sync().unwrap_err()), 4);
    device.sync().unwrap();
}

#[test]
fn proved_launches_carry_no_fault_record() {
    let backend = GpuBackend::new("gpu", 1);
    let (device, stats) = device(&backend);
    let (x, mut y) = (Vector::zeros(1000), Vector::zeros(1000));
    let faults = || {
        lock(&stats.last)
            .0
            .iter()
            .any(|slot| slot.kind == SlotKind::Faults)
    };
    axpy(1.0, &x, &mut y).over(1000).run_on(&device).unwrap();
    assert!(!faults());
    axpy(1.0, &x, &mut y).cover(1000).run_on(&device).unwrap();
    assert!(faults(), "threads 1000 to 1023 run too");
}

#[test]
fn a_launch_that_did_not_fail_is_lost_behind_one_that_did() {
    // Its check is not provable in any launch, so each launch has a record of its own.
    let checked = changed(|k| k.sites.to_mut()[0].provable = false);
    let [(device, _), _] = two_gpus();
    let stream = device.new_stream().unwrap();
    let (x, mut lost, mut y) = (Vector::zeros(2), Vector::zeros(3), Vector::zeros(2));
    checked(&x, &mut lost).over(3).enqueue(&stream).unwrap();
    let behind = checked(&x, &mut y).over(2).enqueue(&stream).unwrap();
    assert_eq!(index_of_x(&behind.sync().unwrap_err()), 2);
    behind.sync().unwrap();
    stream.sync().unwrap();
    assert_eq!(index_of_x(&y.to_vec().unwrap_err()), 2);
    y.fill(0.0).unwrap();
    checked(&x, &mut y)
        .over(2)
        .enqueue(&stream)
        .unwrap()
        .sync()
        .unwrap();
    assert_eq!(y.to_vec().unwrap(), [0.0; 2]);
}

#[test]
fn a_launch_behind_a_fault_reports_the_first_one_and_others_stay() {
    let [(device, _), _] = two_gpus();
    let (short, x) = (Vector::filled(2, 1.0), Vector::filled(3, 1.0));
    let (mut y, mut z) = (Vector::zeros(3), Vector::zeros(3));
    let (mut w, mut v) = (Vector::zeros(4), Vector::zeros(4));
    axpy(1.0, &short, &mut y).over(3).run_on(&device).unwrap();
    axpy(1.0, &y, &mut z).over(3).run_on(&device).unwrap();
    // It also faults by itself.
    axpy(1.0, &z, &mut w).over(4).run_on(&device).unwrap();
    axpy(1.0, &x, &mut v).over(3).run_on(&device).unwrap();
    let first = y.to_vec().unwrap_err().to_string();
    assert!(first.contains("index 2"), "{first}");
    assert_eq!(w.to_vec().unwrap_err().to_string(), first);
    assert_eq!(z.to_vec().unwrap_err().to_string(), first);
    assert_eq!(v.to_vec().unwrap(), [1.0, 1.0, 1.0, 0.0]);
    device.sync().unwrap();
}

#[test]
fn many_launches_in_a_row_are_dropped_on_a_small_stack() {
    let run = || {
        let [(device, _), _] = two_gpus();
        let (x, mut y) = (Vector::filled(3, 1.0), Vector::zeros(4));
        for _ in 0..1000 {
            axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
        }
    };
    // Each pending launch holds the one before it.
    let thread = std::thread::Builder::new().stack_size(128 << 10).spawn(run);
    thread.unwrap().join().unwrap();
}
