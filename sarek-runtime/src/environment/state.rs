//! The states of environments, for the host.

use std::any::{Any, type_name};

use super::{Held, all, initialize, problem};
use crate::sync::{fork, lock};
use crate::{Device, Result};

impl Device {
    /// The state that an environment keeps on this device: the result of its
    /// [`Environment::init`](super::Environment::init), for the arguments of launches and for other
    /// environments. The device is initialised for the environment first, if no launch has done so.
    ///
    /// The state lives as long as the result, even if the device does not.
    ///
    /// ```
    /// # use sarek_runtime::Device;
    /// use sarek_runtime::environment::{self, Environment, Parts};
    ///
    /// environment::register(
    ///     Environment::new("seed", |_| Ok(Parts::new())).init(|_| Ok(Box::new(7u32))),
    /// )?;
    /// for device in Device::all() {
    ///     assert_eq!(*device.environment::<u32>("seed")?, 7);
    /// }
    /// # Ok::<(), sarek_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Environment`](crate::Error::Environment) if the environment is not registered, keeps
    /// no state, or one of another type; the error of its initialisation.
    pub fn environment<T: Any + Send + Sync>(&self, name: &str) -> Result<Held<T>> {
        fork::check()?;
        let states = self.states();
        if !states.has(name) {
            initialize(self, &[name.to_owned()])?;
        }
        states.get(name).ok_or_else(|| {
            let registered = lock(all()).get(name).cloned();
            let initializes = registered.is_none_or(|environment| environment.init.is_some());
            problem(
                name,
                match initializes {
                    true => format!("its state on {self} is no `{}`", type_name::<T>()),
                    false => "it keeps no state; give it one with `init`".to_owned(),
                },
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::sync::{Arc, Mutex};

    use crate::environment::{Environment, Parts, register};
    use crate::sync::lock;
    use crate::testing::gpu::GpuBackend;
    use crate::testing::kernels::{axpy, leak};
    use crate::testing::{device, host};
    use crate::{Device, Error, FreeBlock, Launch, Result, Vector};

    fn run(on: &Device, environment: Option<&str>) -> Result<()> {
        let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::filled(4, 1.0f32));
        let args = [2.0f32.into(), (&x).into(), (&mut y).into()];
        // SAFETY: the arguments are those of `axpy`.
        let launch: Launch<'_, FreeBlock> = unsafe { Launch::of(leak(axpy()), args) };
        let launch = match environment {
            Some(name) => launch.environment(name),
            None => launch,
        };
        launch.over(4).run_on(on)
    }

    fn empty(name: &str) -> Environment {
        Environment::new(name, |_| Ok(Parts::new()))
    }

    /// A state that notes when it is dropped.
    struct Noted(&'static str, Arc<Mutex<Vec<&'static str>>>);

    impl Drop for Noted {
        fn drop(&mut self) {
            lock(&self.1).push(self.0);
        }
    }

    #[test]
    fn a_state_lives_as_long_as_it_is_used_and_goes_before_earlier_ones() {
        let log = Arc::new(Mutex::new(vec![]));
        let (first, second, third) = (log.clone(), log.clone(), log.clone());
        let first = empty("held/first").init(move |_| Ok(Box::new(Noted("first", first.clone()))));
        register(first).unwrap();
        // The second one reads the first one's state.
        let second = empty("held/second").init(move |device| {
            assert_eq!(device.environment::<Noted>("held/first")?.0, "first");
            Ok(Box::new(Noted("second", second.clone())))
        });
        register(second).unwrap();
        let third = empty("held/third").init(move |_| Ok(Box::new(Noted("third", third.clone()))));
        register(third).unwrap();
        let (on, _) = device(&GpuBackend::new("gpu", 1));
        let held = on.environment::<Noted>("held/second").unwrap();
        on.environment::<Noted>("held/third").unwrap();
        assert_eq!(held.0, "second");
        drop(on);
        assert_eq!(*lock(&log), ["third"], "the others are in use");
        drop(held);
        assert_eq!(*lock(&log), ["third", "second", "first"]);
    }

    #[test]
    fn a_state_that_cannot_be_read_is_an_error() {
        register(empty("typed/number").init(|_| Ok(Box::new(7u32)))).unwrap();
        register(empty("typed/none")).unwrap();
        register(empty("typed/itself").init(|device| {
            let own = device.environment::<u32>("typed/itself")?;
            Ok(Box::new(*own))
        }))
        .unwrap();
        let on = host();
        assert_eq!(*on.environment::<u32>("typed/number").unwrap(), 7);
        for (name, problem) in [
            ("typed/number", "is no `alloc::string::String`"),
            ("typed/none", "keeps no state"),
            ("typed/missing", "is not registered"),
            ("typed/itself", "needs the environment itself"),
        ] {
            let error = on.environment::<String>(name).unwrap_err();
            assert!(matches!(error, Error::Environment { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(name) && text.contains(problem), "{text}");
        }
    }

    #[test]
    fn threads_initialize_a_device_once() {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        register(empty("threads/slow").init(|_| {
            let started = STARTED.fetch_add(1, Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(50));
            Ok(Box::new(started))
        }))
        .unwrap();
        let on = host();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let read = || *on.environment::<usize>("threads/slow").unwrap();
                scope.spawn(move || assert_eq!(read(), 0));
            }
        });
        assert_eq!(STARTED.load(Relaxed), 1);
    }

    #[test]
    fn launches_of_a_plug_in_read_the_states() {
        register(empty("testing/number").init(|_| Ok(Box::new(7u32)))).unwrap();
        let (on, stats) = device(&GpuBackend::new("gpu", 1));
        run(&on, None).unwrap();
        assert!(lock(&stats.numbers).is_empty(), "no launch needs it yet");
        run(&on, Some("testing/number")).unwrap();
        assert_eq!(*lock(&stats.numbers), [7]);
    }

    #[test]
    fn a_target_adds_environments_to_its_texts() {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let (on, stats) = device(&GpuBackend::new("gpu", 1));
        lock(&stats.environments).push("target/fragments".to_owned());
        let error = run(&on, None).unwrap_err();
        assert!(error.to_string().contains("`target/fragments`"), "{error}");
        register(empty("target/base").init(|_| {
            STARTED.fetch_add(1, Relaxed);
            Ok(Box::new(()))
        }))
        .unwrap();
        let parts = |_: &str| {
            let parts = Parts::new().define("FRAGMENT", "16").flag("-fragments");
            // SAFETY: nothing is compiled with it.
            Ok(unsafe { parts.header("fragments.h") })
        };
        let fragments = Environment::new("target/fragments", parts);
        register(fragments.depends_on("target/base")).unwrap();
        for _ in 0..2 {
            run(&on, None).unwrap();
        }
        let parts = lock(&stats.parts).clone();
        assert!(parts.headers().eq(["fragments.h"]) && parts.flags().eq(["-fragments"]));
        assert!(parts.definitions().eq([("FRAGMENT", "16")]));
        assert_eq!(STARTED.load(Relaxed), 1);
        // Parts that contradict those of the launch, or that safe code may not add, are refused.
        register(Environment::new("target/other", |_| {
            Ok(Parts::new().define("FRAGMENT", "8"))
        }))
        .unwrap();
        let error = run(&on, Some("target/other")).unwrap_err().to_string();
        assert!(
            error.contains("`target/other`") && error.contains("target/fragments"),
            "{error}"
        );
        register(Environment::new("target/harm", |_| {
            Ok(Parts::new().flag("-harm"))
        }))
        .unwrap();
        *lock(&stats.environments) = vec!["target/harm".to_owned()];
        let error = run(&on, None).unwrap_err();
        assert!(matches!(error, Error::Unchecked { .. }), "{error}");
    }
}
