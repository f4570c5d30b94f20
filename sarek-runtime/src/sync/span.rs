//! Spans of the `tracing` crate, with the feature of that name.

/// Enters a span until the end of the enclosing block: a name, then fields that are displayed.
macro_rules! span {
    ($name:literal $(, $key:ident = $value:expr)*) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::trace_span!(target: "sarek", $name, $($key = %$value),*).entered();
    };
}

pub(crate) use span;

#[cfg(all(test, feature = "tracing"))]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use crate::Vector;
    use crate::sync::lock;
    use crate::testing::kernels::axpy_call as axpy;
    use crate::testing::two_gpus;

    /// The names of the entered spans.
    #[derive(Clone, Default)]
    struct Names(Arc<Mutex<Vec<&'static str>>>);

    impl Subscriber for Names {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "sarek"
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            lock(&self.0).push(span.metadata().name());
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn what_takes_time_is_a_span() {
        let names = Names::default();
        let run = || {
            let [(device, _), _] = two_gpus();
            let (x, mut y) = (Vector::filled(4, 1.0f32), Vector::zeros(4));
            axpy(1.0, &x, &mut y).over(4).run_on(&device).unwrap();
            device.sync().unwrap();
            y.to_vec().unwrap();
        };
        tracing::subscriber::with_default(names.clone(), || {
            // Another test may have reached a span first, while no subscriber was interested.
            run();
            tracing::callsite::rebuild_interest_cache();
            lock(&names.0).clear();
            run();
        });
        let names = lock(&names.0).clone();
        assert_eq!(
            names,
            [
                "launch", "compile", "load", "allocate", "upload", "allocate", "upload", "wait",
                "download"
            ]
        );
    }
}
