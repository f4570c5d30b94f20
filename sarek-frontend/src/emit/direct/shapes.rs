//! Which shapes a loop over lanes may take besides the plain one.

/// Each only makes code faster; tests turn them off one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shapes {
    /// A test of a lane's index becomes the end of the loop over lanes: [`super::trim`].
    pub trim: bool,
    /// A loop that all lanes of a row agree on moves outside of a strip of lanes: [`super::strip`].
    pub strips: bool,
}

impl Default for Shapes {
    fn default() -> Shapes {
        Shapes {
            trim: true,
            strips: true,
        }
    }
}

impl Shapes {
    /// The shapes of a list such as `"trim, strips"`; `None` if a name is unknown.
    pub fn from_list(list: &str) -> Option<Shapes> {
        let mut shapes = Shapes {
            trim: false,
            strips: false,
        };
        for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            match name {
                "trim" => shapes.trim = true,
                "strips" => shapes.strips = true,
                _ => return None,
            }
        }
        Some(shapes)
    }
}
