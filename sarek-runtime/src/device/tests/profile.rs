//! Tests of profiles and their traces.

use std::time::Duration;

use crate::plugin::tag::{self, InstrumentationKind, Tag};
use crate::testing::gpu::GpuBackend;
use crate::testing::kernels::axpy_call as axpy;
use crate::testing::{device, host};
use crate::{Clock, Device, Error, Vector, WorkKind};

#[test]
fn a_profile_tells_what_a_device_did() {
    let device = device(&GpuBackend::new("gpu", 9)).0;
    let (x, mut y) = (Vector::filled(8, 1.0f32), Vector::zeros(8));
    axpy(1.0, &x, &mut y).over(8).run_on(&device).unwrap();
    let (read, profile) = device
        .profile(|| {
            y.fill(1.0)?;
            axpy(1.0, &x, &mut y).over(8).run_on(&device)?;
            let stream = device.new_stream()?;
            axpy(1.0, &x, &mut y).over(4).enqueue(&stream)?.sync()?;
            y.get(0)
        })
        .unwrap();
    assert_eq!(read, 3.0);
    let kinds: Vec<_> = profile.work.iter().map(|work| work.kind).collect();
    let (kernel, upload) = (WorkKind::Kernel, WorkKind::Upload);
    assert_eq!(kinds, [upload, kernel, kernel, WorkKind::Download]);
    let launch = &profile.work[1];
    assert_eq!(
        (launch.name.as_str(), launch.clock),
        ("axpy", Clock::Device)
    );
    // `y` is both read and written.
    assert_eq!((launch.read, launch.written, launch.threads), (64, 32, 8));
    assert!(launch.time < Duration::from_secs(10) && profile.work[2].start >= launch.start);
    assert!(profile.bandwidth.unwrap() > 0.0 && profile.share(launch).unwrap() > 0.0);
    let table = profile.to_string();
    assert!(table.contains("axpy") && table.contains(" 2 "), "{table}");
    // The profile has ended.
    axpy(1.0, &x, &mut y).over(8).run_on(&device).unwrap();
    let (_, profile) = device.profile(|| Ok(())).unwrap();
    assert!(profile.work.is_empty());
}

#[test]
fn host_devices_and_graphs_are_profiled_too() {
    let device = host();
    let (x, mut y) = (Vector::filled(8, 1.0f32), Vector::zeros(8));
    let mut recording = device.record_graph();
    recording.launch(axpy(1.0, &x, &mut y).over(8)).unwrap();
    let graph = recording.finish();
    let (_, profile) = device.profile(|| graph.replay((&x, &mut y))).unwrap();
    let launch = &profile.work[0];
    assert_eq!((launch.name.as_str(), launch.clock), ("axpy", Clock::Host));
    assert_eq!((launch.read, launch.written), (64, 32));
}

#[test]
fn the_way_of_measuring_is_chosen() {
    let gpu = device(&GpuBackend::new("gpu", 9)).0;
    let (x, mut y) = (Vector::filled(8, 1.0f32), Vector::zeros(8));
    let mut measured = |device: &Device, way: &Tag<InstrumentationKind>| {
        let mut run = || axpy(1.0, &x, &mut y).over(8).run_on(device);
        let (_, profile) = device.profile_by(way, || {
            run()?;
            device.is_idle()
        })?;
        let work = &profile.work[profile.work.len() - 1];
        Ok::<_, Error>((work.clock, work.time.is_zero()))
    };
    let [none, timer, events] = [
        InstrumentationKind::none(),
        InstrumentationKind::timer(),
        InstrumentationKind::device_events(),
    ];
    assert_eq!(measured(&gpu, &timer).unwrap(), (Clock::Host, false));
    assert_eq!(measured(&gpu, &events).unwrap().0, Clock::Device);
    assert_eq!(measured(&gpu, &none).unwrap(), (Clock::Host, true));
    let (idle, _) = gpu
        .profile_by(&none, || {
            axpy(1.0, &x, &mut Vector::zeros(8)).over(8).run_on(&gpu)?;
            gpu.is_idle()
        })
        .unwrap();
    assert!(!idle, "nobody waited");
    assert!(measured(&host(), &events).is_err() && measured(&host(), &timer).is_ok());
    let other = tag::lookup("papi");
    let error = measured(&gpu, &other).unwrap_err().to_string();
    assert!(error.contains("papi"), "{error}");
}

#[test]
fn profiles_do_not_nest_and_end_with_an_error() {
    let device = device(&GpuBackend::new("gpu", 9)).0;
    let nested = device.profile(|| device.profile(|| Ok(())).map(drop));
    assert!(matches!(nested, Err(Error::Unsupported { .. })));
    let (short, mut y) = (Vector::filled(1, 1.0f32), Vector::zeros(2));
    let failed = device.profile(|| axpy(1.0, &short, &mut y).over(2).run_on(&device));
    assert!(matches!(failed, Err(Error::Fault(_))));
    assert!(device.profile(|| Ok(())).is_ok());
}

#[test]
fn traces_are_json_of_complete_events() {
    let backend = GpuBackend::with("gpu", 9, |info| info.name = "a \"fake\"\n\\ GPU".into());
    let device = device(&backend).0;
    let (x, mut y) = (Vector::filled(8, 1.0f32), Vector::zeros(8));
    let run = || axpy(1.0, &x, &mut y).over(8).run_on(&device);
    let (_, profile) = device.profile(run).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&profile.trace()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let named = |name: &str| events.iter().find(|e| e["name"] == name).unwrap();
    assert!(
        named("process_name")["args"]["name"]
            .as_str()
            .unwrap()
            .starts_with("a \"fake\"\n\\")
    );
    let launch = named("axpy");
    assert_eq!(
        (launch["ph"].as_str(), launch["cat"].as_str()),
        (Some("X"), Some("kernel"))
    );
    assert!(launch["dur"].as_f64().unwrap() >= 0.0 && launch["ts"].as_f64().is_some());
    assert_eq!(launch["args"]["bytes read"], 64);
    let error = profile.write_trace("/nowhere/trace.json").unwrap_err();
    assert!(error.to_string().contains("/nowhere/trace.json"), "{error}");
}
