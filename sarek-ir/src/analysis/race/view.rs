//! Race check of strided views, coordinate by coordinate.
//!
//! Different indices of a view lead to different elements, so two threads collide only if they agree in every
//! coordinate. Each coordinate is a mixed-radix number of its own, and determines some ids. Together, the
//! coordinates must determine the thread: for each axis the global id, or both the block id and the thread id.

use super::buffer::{Buffer, ids_of};
use super::{Race, Reason, names_threads};
use crate::analysis::linear::Affine;
use crate::{Axis, Builtin, Precondition};

impl Buffer<'_> {
    /// The number of coordinates of the accesses; 0 if the memory is no view.
    pub(super) fn rank(&self) -> usize {
        let each = self.accesses.iter().map(|a| a.coordinates.len());
        each.min().unwrap_or(0)
    }

    /// [`Buffer::check`] for a strided view.
    pub(super) fn check_view(mut self) -> Result<Vec<Precondition>, Race> {
        let pinned = Axis::ALL.map(|axis| self.pin(Builtin::GlobalIdx(axis)));
        let alone = Axis::ALL.map(|axis| self.pin(Builtin::ThreadIdx(axis)));
        let mut told: Vec<Builtin> = vec![];
        let mut spoilt: Option<Race> = None;
        for d in 0..self.rank() {
            let before = self.needs.clone();
            match self.coordinate(d) {
                Ok(ids) => told.extend(ids),
                Err(race) => {
                    self.needs = before;
                    spoilt.get_or_insert(race);
                }
            }
        }
        if told.is_empty() && pinned.iter().all(Option::is_none) {
            let none = || self.race_with_store(0, Reason::Shared);
            return Err(spoilt.unwrap_or_else(none));
        }
        let kernel = self.kernel;
        let knows = |id: Builtin| told.contains(&id) || told.contains(&Builtin::GlobalThreadId);
        for axis in Axis::ALL {
            if knows(Builtin::GlobalIdx(axis)) {
                continue;
            }
            let (block, thread) = (Builtin::BlockIdx(axis), Builtin::ThreadIdx(axis));
            let bounds = match (knows(block), knows(thread)) {
                (true, true) => continue,
                (true, false) => pinned[axis.index()]
                    .as_ref()
                    .or(alone[axis.index()].as_ref()),
                (false, _) => pinned[axis.index()].as_ref(),
            };
            match (bounds, &spoilt) {
                (Some(bounds), _) => bounds.iter().for_each(|b| self.rely_on(b)),
                (None, Some(race)) => return Err(race.clone()),
                (None, None) if knows(thread) => {
                    return Err(self.race_with_store(0, Reason::BlockLocal(thread)));
                }
                (None, None) if knows(block) => {
                    return Err(self.race_with_store(0, Reason::Axis(axis)));
                }
                (None, None) if names_threads(kernel, axis) => {
                    return Err(self.race_with_store(0, Reason::Axis(axis)));
                }
                (None, None) => self.need(Precondition::SingleThread(axis)),
            }
        }
        Ok(self.needs)
    }

    /// The ids that a coordinate determines.
    fn coordinate(&mut self, d: usize) -> Result<Vec<Builtin>, Race> {
        let kernel = self.kernel;
        let form = |affine: &Option<Affine>| {
            let mut affine = affine.clone()?;
            affine.form.join_ids(kernel);
            Some(affine)
        };
        let forms = self.accesses.iter().map(|a| form(&a.coordinates[d]));
        self.forms = forms.collect();
        let mut all = None;
        for (i, affine) in self.forms.iter().enumerate() {
            let Some(affine) = affine else {
                return Err(self.race_with_store(i, Reason::Opaque));
            };
            let ids = ids_of(&affine.form);
            if ids.len() > 1 && ids.iter().any(|(id, _)| *id == Builtin::GlobalThreadId) {
                return Err(self.race_with_store(i, Reason::Mixed));
            }
            match &all {
                None => all = Some(ids),
                Some(first) if *first == ids => {}
                Some(_) => return Err(self.race(i, 0, Reason::Different)),
            }
        }
        let ids = all.unwrap_or_default();
        if !ids.is_empty() {
            self.separate(&ids)?;
        }
        Ok(ids.into_iter().map(|(id, _)| id).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Reason, check};
    use crate::sketch::{Sketch, SketchExpr};
    use crate::{Axis, Builtin, ParamId, Precondition, Scalar};

    const Z: Precondition = Precondition::SingleThread(Axis::Z);

    /// The result of the check for a kernel with a two-dimensional view.
    fn verdict(
        block: Option<[u32; 3]>,
        fill: impl Fn(&Sketch, ParamId),
    ) -> Result<Vec<Precondition>, Reason> {
        let s = Sketch::new("k");
        let view = s.slice_mut("m", Scalar::F32);
        for name in ["rows", "cols", "offset", "row_stride", "col_stride"] {
            s.scalar(name, Scalar::Usize);
        }
        fill(&s, view);
        let mut kernel = s.finish();
        kernel.block = block;
        assert_eq!(crate::validate(&kernel), Ok(()), "{kernel}");
        check(&kernel).map_err(|races| races[0].reason)
    }

    fn store(s: &Sketch, view: ParamId, row: SketchExpr<'_>, col: SketchExpr<'_>) {
        s.store(view, s.at(view, &[row, col]), s.f32(0.0));
    }

    fn global(s: &Sketch, axis: Axis) -> SketchExpr<'_> {
        s.id(Builtin::GlobalIdx(axis))
    }

    #[test]
    fn coordinates_tell_threads_apart() {
        let plain = verdict(None, |s, m| {
            store(s, m, global(s, Axis::Y), global(s, Axis::X))
        });
        assert_eq!(plain, Ok(vec![Z]));
        let row = verdict(None, |s, m| store(s, m, s.n(3), global(s, Axis::X)));
        assert_eq!(row, Ok(vec![Precondition::SingleThread(Axis::Y), Z]));
        let shared = verdict(None, |s, m| store(s, m, s.n(3), s.n(0)));
        assert_eq!(shared, Err(Reason::Shared));
        let neighbours = verdict(None, |s, m| {
            store(s, m, global(s, Axis::Y), global(s, Axis::X));
            store(s, m, global(s, Axis::Y), global(s, Axis::X) + s.n(1));
        });
        assert_eq!(neighbours, Err(Reason::Neighbour));
        let loaded = verdict(None, |s, m| {
            let mutable = s.let_mut("k", s.n(0));
            store(s, m, mutable.get(), s.id(Builtin::GlobalThreadId));
        });
        assert_eq!(loaded, Ok(vec![]));
    }

    #[test]
    fn blocks_may_change_places() {
        let swapped = |s: &Sketch, m| {
            let part = |block, thread| {
                s.id(Builtin::BlockIdx(block)) * s.n(16) + s.id(Builtin::ThreadIdx(thread))
            };
            store(s, m, part(Axis::X, Axis::Y), part(Axis::Y, Axis::X));
        };
        assert_eq!(verdict(Some([16, 16, 1]), swapped), Ok(vec![Z]));
        let wide = verdict(Some([17, 16, 1]), swapped);
        assert_eq!(wide, Err(Reason::Overlapping));
        assert_eq!(verdict(None, swapped), Err(Reason::Overlapping));
        let halves = verdict(Some([16, 16, 1]), |s, m| {
            let (block, thread) = (Builtin::BlockIdx(Axis::X), Builtin::ThreadIdx(Axis::Y));
            store(s, m, s.id(block), s.id(thread));
        });
        assert_eq!(halves, Err(Reason::Axis(Axis::X)));
    }

    #[test]
    fn loops_stay_within_their_tile() {
        let tiles = |step: u64| {
            verdict(None, move |s, m| {
                s.for_("k", s.n(0), s.n(4), |k, _| {
                    let row = global(s, Axis::Y) * s.n(step) + k.get();
                    store(s, m, row, global(s, Axis::X));
                });
            })
        };
        assert!(tiles(4).is_ok());
        assert_eq!(tiles(3), Err(Reason::Neighbour));
    }
}
