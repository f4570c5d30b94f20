//! Maps the user's names to target names: unchanged where possible, unique where visible.

use std::collections::{BTreeMap, BTreeSet};

use crate::LocalId;

/// Allocates names.
///
/// A name is free if it equals no word of the dialect's tables and no name in an enclosing scope. A taken name gets the
/// first free suffix `_0`, `_1`, … A name becomes free again when its scope closes.
pub(super) struct Namer {
    reserved: BTreeSet<&'static str>,
    taken: BTreeSet<String>,
    scopes: Vec<Vec<String>>,
    locals: BTreeMap<LocalId, String>,
}

impl Namer {
    pub fn new(tables: &[&[&'static str]]) -> Namer {
        Namer {
            reserved: tables.iter().flat_map(|t| t.iter().copied()).collect(),
            taken: BTreeSet::new(),
            scopes: vec![vec![]],
            locals: BTreeMap::new(),
        }
    }

    /// Opens a scope. [`Namer::close`] frees the names allocated in it.
    pub fn open(&mut self) {
        self.scopes.push(vec![]);
    }

    pub fn close(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            self.taken.remove(&name);
        }
    }

    /// A free name derived from `wanted`, taken until the scope closes.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let wanted = sanitise(wanted);
        let suffixed = (0..).map(|n| format!("{}_{n}", wanted.trim_end_matches('_')));
        let name = std::iter::once(wanted.clone())
            .chain(suffixed)
            .find(|name| !self.reserved.contains(name.as_str()) && !self.taken.contains(name))
            .expect("some suffix is free");
        self.taken.insert(name.clone());
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.clone());
        }
        name
    }

    /// Declares a local in the current scope.
    pub fn declare(&mut self, local: LocalId, wanted: &str) -> String {
        let name = self.fresh(wanted);
        self.locals.insert(local, name.clone());
        name
    }

    /// The name of a declared local.
    pub fn local(&self, local: LocalId) -> &str {
        self.locals
            .get(&local)
            .expect("a validated kernel declares its locals before their use")
    }
}

/// Turns a name into one that all C-like targets lex as one word and that no helper has. The result is ASCII. It does
/// not begin with a digit, `srk_` or an underscore and a capital, and contains no `__`.
fn sanitise(name: &str) -> String {
    let mut out = String::new();
    for c in name.trim_start_matches("r#").chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => out.push(c),
            '_' if out.ends_with('_') => {}
            '_' => out.push('_'),
            other => out.push_str(&format!("u{:x}", u32::from(other))),
        }
    }
    let plain = out.strip_prefix('_').unwrap_or(&out);
    if plain.starts_with("srk_") {
        return format!("k_{plain}");
    }
    match plain.chars().next() {
        None => "unnamed".into(),
        Some('0'..='9') => format!("n{plain}"),
        Some('A'..='Z') => plain.into(),
        Some(_) => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_where_they_are_visible() {
        let mut namer = Namer::new(&[&["float"]]);
        assert_eq!(namer.fresh("i"), "i");
        assert_eq!(namer.fresh("i"), "i_0");
        assert_eq!(namer.fresh("float"), "float_0");
        namer.open();
        assert_eq!(namer.fresh("i"), "i_1");
        namer.close();
        assert_eq!(namer.fresh("i"), "i_1");
    }

    #[test]
    fn names_are_made_fit() {
        for (name, fit) in [
            ("_tmp", "_tmp"),
            ("_Tmp", "Tmp"),
            ("a__b", "a_b"),
            ("_", "unnamed"),
            ("__0", "n0"),
            ("r#type", "type"),
            ("größe", "gruf6uDFe".to_lowercase().as_str()),
            ("srk_index", "k_srk_index"),
        ] {
            assert_eq!(sanitise(name), fit);
        }
    }
}
