//! Register tiling: strips of several rows, called stacks.
//!
//! In a product, `sum += a[y][k] * b[k][x]`, lanes that are adjacent along y load the same elements
//! of one factor. If the rows of a block are shorter than a strip may be, a strip takes several
//! rows. Loads that the rows have in common are then done once, and there are enough sums to hide
//! the latency of an addition. The loops of such a strip are those on which all lanes of a block
//! agree.
//!
//! In long rows, such a strip takes a part of each row. Strips below each other run one after the
//! other, so that what a column of strips loads stays in the cache.

use proc_macro2::{Literal, TokenStream};
use sarek_ir::analysis::regions::{Plan, RegionId};
use sarek_ir::{Axis, Builtin, Expr, StmtId};

use super::frame::{Frame, Lanes};
use super::pack::Pack;
use super::strip_mine::{LIGHT, Moved};
use super::{Writer, mixed};

/// The shortest row that fills the vector registers.
const SHORTEST: u32 = 8;

/// The usual rows of a block that a launch gives, and the numbers of them that fill a strip.
const GIVEN: [[u32; 2]; 2] = [[16, 4], [8, 8]];

/// The part of a long row in a strip of several rows, and the number of these rows.
const PART: [u32; 2] = [16, 4];

/// A strip of several rows.
pub struct Stack {
    plan: Plan,
    /// The number of lanes in a row.
    row: u32,
    rows: u32,
}

impl Writer<'_> {
    /// The strips of several rows that replace a strip of one row: for the kernel's block, or, if
    /// the launch gives the block of a split body, for the usual ones. Empty if blocks have another
    /// shape, if other loops than those of `moved` would move, or if a lane keeps more than one
    /// number.
    pub fn stacks(&self, outer: Option<&Frame<'_>>, stmts: &[StmtId], moved: &Moved) -> Vec<Stack> {
        let shapes = match self.kernel.block {
            Some([row, height, _]) if row >= SHORTEST => {
                let mut several = (2..=LIGHT / row).rev();
                let rows = several.find(|rows| height.is_multiple_of(*rows));
                rows.map(|rows| [row, rows]).into_iter().collect()
            }
            Some(_) => vec![],
            None if outer.is_some() => GIVEN.to_vec(),
            None => vec![],
        };
        if shapes.is_empty() || !self.shapes.stacks {
            return vec![];
        }
        let plan = self.stack_plan(outer, stmts, moved).into_iter();
        let each = plan.flat_map(|plan| {
            shapes.iter().map(move |&[row, rows]| Stack {
                plan: plan.clone(),
                row,
                rows,
            })
        });
        each.collect()
    }

    /// The strip of parts of long rows. `None` if rows may be short, if the code does not depend on
    /// the row, or as for [`Writer::stacks`].
    pub fn tile(&self, stmts: &[StmtId], moved: &Moved) -> Option<Stack> {
        let along_y = |expr: &Expr| match expr {
            Expr::Builtin(Builtin::GlobalIdx(axis) | Builtin::ThreadIdx(axis)) => *axis == Axis::Y,
            _ => false,
        };
        let has_rows = self.kernel.block.is_none() && self.kernel.exprs.iter().any(along_y);
        let [row, rows] = PART;
        let plan = (self.shapes.stacks && has_rows).then(|| self.stack_plan(None, stmts, moved));
        Some(Stack {
            plan: plan??,
            row,
            rows,
        })
    }

    fn stack_plan(
        &self,
        outer: Option<&Frame<'_>>,
        stmts: &[StmtId],
        moved: &Moved,
    ) -> Option<Plan> {
        let (plan, of_block) = self.strip_plan(outer, stmts, false)?;
        let is_same = of_block.loops == moved.loops;
        let is_plain = of_block.steps.is_empty() && of_block.turns.is_empty();
        let is_stack = is_same && is_plain && self.is_light(&plan, &of_block);
        is_stack.then_some(plan)
    }

    /// Runs all strips of a plane that are complete. `__done` are the columns and rows that they
    /// fill.
    pub fn tiles_of(&self, tile: &Stack, packs: &[Pack]) -> TokenStream {
        let mut frame = Frame::new(&tile.plan, Lanes::Strip);
        frame.row = Some(tile.row);
        frame.packed = self.packed_loads(packs, tile.row);
        let (tests, memory) = self.pack_memory(packs, tile.row);
        let fill = self.fill_packs(packs, tile.row);
        let once = self.read_once(&tile.plan);
        let (arrays, _) = self.strip_arrays(&frame, None);
        let tree = self.tree(&frame);
        let [row, rows] = [tile.row, tile.rows].map(Literal::u32_unsuffixed);
        mixed! {
            let mut __done = [0, 0];
            let mut __short = !__CHECK && __lanes[1] >= #rows;
            #tests
            if __short {
                #memory
                __done = [__lanes[0] / #row * #row, __lanes[1] / #rows * #rows];
                let mut __first = 0;
                while __first < __done[0] {
                    #fill
                    let mut __y = 0;
                    while __y < __done[1] {
                        const __STRIP: __usize = #row * #rows;
                        let __thread = [__first, __y, __z];
                        #arrays
                        #once
                        #tree
                        __y += #rows;
                    }
                    __first += #row;
                }
            }
        }
    }

    /// Runs the rows from `__y` on that fill a strip. Leaves `__y` at the last of them, with no
    /// lane of it left to run.
    pub fn stacks_of(&self, outer: Option<(&Frame<'_>, RegionId)>, stack: &Stack) -> TokenStream {
        let mut frame = Frame::new(&stack.plan, Lanes::Strip);
        frame.row = Some(stack.row);
        let once = self.read_once(&stack.plan);
        let (arrays, back) = self.strip_arrays(&frame, outer);
        let tree = self.tree(&frame);
        let [row, rows] = [stack.row, stack.rows].map(Literal::u32_unsuffixed);
        mixed! {
            if !__CHECK && __dim[0] == #row && __lanes[0] == #row && __lanes[1] - __y >= #rows {
                const __STRIP: __usize = #row * #rows;
                let __thread = [0, __y, __z];
                let __lane = __row;
                #arrays
                #once
                #tree
                #back
                __first = #row;
                __y += #rows - 1;
            }
        }
    }

    /// The loop over the lanes of a strip.
    pub fn strip_lanes(&self, frame: &Frame<'_>, lane: &TokenStream) -> TokenStream {
        let Some(row) = frame.row.map(Literal::u32_unsuffixed) else {
            let count = match frame.elastic {
                true => mixed!(__count),
                false => mixed!(__STRIP),
            };
            return mixed! {
                for __w in 0..#count {
                    let __thread = [__thread[0] + __w, __thread[1], __thread[2]];
                    #lane
                }
            };
        };
        mixed! {
            for __r in 0..__STRIP / #row {
                for __v in 0..#row {
                    let __w = __r * #row + __v;
                    let __thread = [__thread[0] + __v, __thread[1] + __r, __thread[2]];
                    #lane
                }
            }
        }
    }
}
