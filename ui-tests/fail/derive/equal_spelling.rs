use sarek::prelude::*;

type Field = Option<bool>;

macro_rules! two_fields {
    ($($first:tt)*) => {
        #[derive(Clone, Copy, KernelType)]
        #[repr(C)]
        struct Two {
            a: $($first)*,
            b: $crate::Field,
        }
    };
}

sarek_test_library::with_field! { two_fields }

fn main() {
    let _ = Vector::<Two>::zeros(1);
}
