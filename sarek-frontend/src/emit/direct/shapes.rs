//! Which shapes a loop over lanes may take besides the plain one.

/// Each only makes code faster; tests turn them off one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shapes {
    /// A test of a lane's index becomes the end of the loop over lanes: [`super::trim`].
    pub trim: bool,
    /// A loop that all lanes of a row agree on moves outside of a strip of lanes: [`super::strip`].
    pub strips: bool,
    /// A loop that lanes leave one by one is run by steps of a strip: [`super::masked`].
    pub masked: bool,
    /// The turns of a loop with strides are taken by a wide strip: [`super::stride`].
    pub strides: bool,
    /// A row's edges are split off where a condition tells them: [`super::peel`].
    pub peel: bool,
    /// The loop over y is the inner one where a block writes along y: [`super::columns`].
    pub columns: bool,
    /// A row of which all lanes pass a guard asks once: [`super::inside`].
    pub inside: bool,
}

impl Default for Shapes {
    fn default() -> Shapes {
        Shapes {
            trim: true,
            strips: true,
            masked: true,
            strides: true,
            peel: true,
            columns: true,
            inside: true,
        }
    }
}

impl Shapes {
    /// None of them.
    pub const fn none() -> Shapes {
        Shapes {
            trim: false,
            strips: false,
            masked: false,
            strides: false,
            peel: false,
            columns: false,
            inside: false,
        }
    }

    /// The shapes of a list such as `"trim, strips"`; `None` if a name is unknown.
    pub fn from_list(list: &str) -> Option<Shapes> {
        let mut shapes = Shapes::none();
        for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            match name {
                "trim" => shapes.trim = true,
                "strips" => shapes.strips = true,
                "masked" => shapes.masked = true,
                "strides" => shapes.strides = true,
                "peel" => shapes.peel = true,
                "columns" => shapes.columns = true,
                "inside" => shapes.inside = true,
                _ => return None,
            }
        }
        Some(shapes)
    }
}
