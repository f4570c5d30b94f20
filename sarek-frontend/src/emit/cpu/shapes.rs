//! Which shapes a loop over lanes may take besides the plain one.

/// Each only makes code faster; tests turn them off one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shapes {
    /// A test of a lane's index becomes the end of the loop over lanes: [`super::guard_bounds`].
    pub trim: bool,
    /// A loop that all lanes of a row agree on moves outside of a strip of lanes: [`super::strip_mine`].
    pub strips: bool,
    /// Such a strip takes several short rows: [`super::register_tile`].
    pub stacks: bool,
    /// A loop that lanes leave one by one is run by steps of a strip: [`super::divergent_loops`].
    pub masked: bool,
    /// The turns of a loop with strides are taken by a wide strip: [`super::grid_stride`].
    pub strides: bool,
    /// A row's edges are split off where a condition tells them: [`super::peel`].
    pub peel: bool,
    /// The loop over y is the inner one where a block writes along y: [`super::columns`].
    pub columns: bool,
    /// A row of which all lanes pass a guard asks once: [`super::loop_versioning`].
    pub inside: bool,
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
        }
    }
}

impl Shapes {
    /// Their names.
    pub const NAMES: [&str; 8] = [
        "trim", "strips", "stacks", "masked", "strides", "peel", "columns", "inside",
    ];

    /// None of them.
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
        }
    }

    /// The shapes of a list such as `"trim, strips"`, or all but those of one such as `"-trim, strips"`; `None` if a name is unknown.
    pub fn from_list(list: &str) -> Option<Shapes> {
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
