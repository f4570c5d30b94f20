//! The memory of local arrays, of which each thread has its own copy.
//!
//! All local arrays of a linked kernel count, those of a callee once per call. Compilers may let two arrays
//! share memory if they are not used at the same time, but need not.

use crate::{Kernel, Length, LocalId};

/// The local arrays of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Private {
    /// The bytes of all local arrays.
    pub bytes: u64,
    /// The largest local array, and its bytes.
    pub largest: Option<(LocalId, u64)>,
}

impl Private {
    /// The local arrays of a closed kernel, in which an element takes at least `smallest` bytes.
    pub fn of(kernel: &Kernel, smallest: u64) -> Private {
        let mut all = Private::default();
        for local in (0..kernel.locals.len() as u32).map(LocalId) {
            let Some((elem, len)) = kernel.array(local) else {
                continue;
            };
            let len = match len {
                Length::Fixed(len) => len,
                Length::Link(_) | Length::Launch(_) => {
                    unreachable!("a local array of a closed kernel has a fixed length")
                }
            };
            let size = smallest.max(elem.scalar().size() as u64);
            let bytes = len.saturating_mul(size);
            all.bytes = all.bytes.saturating_add(bytes);
            if all.largest.is_none_or(|(_, most)| bytes > most) {
                all.largest = Some((local, bytes));
            }
        }
        all
    }
}

/// The bytes of all constant arrays of a closed kernel, and again those of the array for each load from one.
pub fn constants(kernel: &Kernel) -> u64 {
    let loads = kernel.exprs.iter().filter_map(|expr| match expr {
        crate::Expr::Load {
            memory: crate::Memory::Table(table),
            ..
        } => Some(kernel.tables[table.index()].bytes()),
        _ => None,
    });
    let all = kernel.tables.iter().map(crate::Table::bytes);
    loads.chain(all).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;
    use crate::sketch::Sketch;

    #[test]
    fn local_arrays_are_counted() {
        let s = Sketch::new("k");
        s.array("small", Scalar::U8, 3);
        s.array("large", Scalar::F64, 5);
        let kernel = s.finish();
        let private = Private::of(&kernel, 1);
        assert_eq!(private.bytes, 43);
        let (largest, bytes) = private.largest.expect("there are arrays");
        assert_eq!(
            (&*kernel.locals[largest.index()].name, bytes),
            ("large", 40)
        );
        assert_eq!(Private::of(&kernel, 4).bytes, 52);
        assert_eq!(
            Private::of(&Sketch::new("k").finish(), 4),
            Private::default()
        );
    }
}
