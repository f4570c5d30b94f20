//! The shapes that the loop over lanes may take besides the plain one.

/// A set of shapes. Each shape only makes code faster; tests turn them off one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shapes {
    /// Guards on a lane's index become the end of the loop over lanes: `emit/cpu/guard_bounds.rs`.
    pub trim: bool,
    /// A loop on which all lanes of a row agree moves outside of a strip of lanes:
    /// `emit/cpu/strip_mine.rs`.
    pub strips: bool,
    /// Such a strip takes several short rows: `emit/cpu/register_tile.rs`.
    pub stacks: bool,
    /// A strip runs a divergent loop step by step: `emit/cpu/divergent_loops.rs`.
    pub masked: bool,
    /// A wide strip takes the turns of a grid-stride loop: `emit/cpu/grid_stride.rs`.
    pub strides: bool,
    /// A condition splits off the edges of a row: `emit/cpu/peel.rs`.
    pub peel: bool,
    /// The loop over y is the inner one in blocks that write along y: `emit/cpu/columns.rs`.
    pub columns: bool,
    /// A block whose lanes all pass a guard tests it once: `emit/cpu/loop_versioning.rs`.
    pub inside: bool,
    /// The code of debug builds, in which nothing is inlined: `emit/cpu/debug_builds.rs`. Only
    /// `trim` goes with it.
    pub debug: bool,
}

impl Default for Shapes {
    fn default() -> Shapes {
        Shapes {
            trim: true,
            strips: true,
            stacks: true,
            masked: true,
            strides: true,
            peel: true,
            columns: true,
            inside: true,
            debug: false,
        }
    }
}

impl Shapes {
    /// The names of the shapes.
    pub const NAMES: [&str; 8] = [
        "trim", "strips", "stacks", "masked", "strides", "peel", "columns", "inside",
    ];

    /// No shape but the plain one.
    pub const fn none() -> Shapes {
        Shapes {
            trim: false,
            strips: false,
            stacks: false,
            masked: false,
            strides: false,
            peel: false,
            columns: false,
            inside: false,
            debug: false,
        }
    }

    /// The shapes of debug builds.
    pub const fn debug() -> Shapes {
        Shapes {
            trim: true,
            debug: true,
            ..Shapes::none()
        }
    }

    /// Those of code for a single lane, which has no loop over lanes.
    pub const fn of_one_lane(self) -> Shapes {
        Shapes {
            debug: self.debug,
            ..Shapes::none()
        }
    }

    /// Parses a list such as `"trim, strips"`, or `"-trim, strips"` for all shapes but these,
    /// or `"debug"` for those of debug builds. `None` if a name is unknown.
    pub fn from_list(list: &str) -> Option<Shapes> {
        if list == "debug" {
            return Some(Shapes::debug());
        }
        let (mut shapes, names, on) = match list.strip_prefix('-') {
            Some(names) => (Shapes::default(), names, false),
            None => (Shapes::none(), list, true),
        };
        for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            *match name {
                "trim" => &mut shapes.trim,
                "strips" => &mut shapes.strips,
                "stacks" => &mut shapes.stacks,
                "masked" => &mut shapes.masked,
                "strides" => &mut shapes.strides,
                "peel" => &mut shapes.peel,
                "columns" => &mut shapes.columns,
                "inside" => &mut shapes.inside,
                _ => return None,
            } = on;
        }
        Some(shapes)
    }
}
