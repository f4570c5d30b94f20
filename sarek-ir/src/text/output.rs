//! Prints the output statements of a kernel, and its native texts.

use super::{Prec, Text};
use crate::{Memory, Native, Piece, PrintId, SiteId, SiteKind};

impl Text<'_> {
    pub(super) fn panic(&mut self, site: SiteId) {
        self.put("panic");
        self.site(Some(site));
        match &self.kernel.sites[site.index()].kind {
            SiteKind::Panic(message) => self.put(format_args!(" {message:?};")),
            SiteKind::Index(_)
            | SiteKind::Dimension(..)
            | SiteKind::Divisor
            | SiteKind::Overflow(_)
            | SiteKind::Assert(_) => self.put(";"),
        }
    }

    pub(super) fn print(&mut self, print: PrintId) {
        let print = &self.kernel.prints[print.index()];
        self.put(format_args!("print {:?}", print.template()));
        for arg in self.kernel.list(print.args) {
            self.put(", ");
            self.expr(arg, Prec::Lowest);
        }
        self.put(";");
    }

    pub(super) fn native(&mut self, native: &Native) {
        if let Some(result) = native.result {
            self.local(result);
            self.put(" = ");
        }
        self.put("native {\n");
        self.indent += 1;
        for text in native.texts.iter() {
            self.line_start();
            match &native.intrinsic {
                Some(name) if text.target.is_empty() => {
                    self.put(format_args!("intrinsic {name} => \""));
                }
                Some(_) | None => self.put(format_args!("{:?} => \"", text.target)),
            }
            for piece in text.pieces.iter() {
                match piece {
                    Piece::Text(text) => {
                        let text = text.replace('{', "{{").replace('}', "}}");
                        self.put(text.escape_debug());
                    }
                    Piece::Local(local) => {
                        self.put("{");
                        self.local(*local);
                        self.put("}");
                    }
                    Piece::Param(param) => {
                        self.put("{");
                        self.param(*param);
                        self.put("}");
                    }
                    Piece::Shared(shared) => {
                        self.put("{");
                        self.memory(Memory::Shared(*shared));
                        self.put("}");
                    }
                    Piece::Place(place) => {
                        self.put("{");
                        self.place(*place);
                        self.put("}");
                    }
                }
            }
            self.put("\",\n");
        }
        if let Some(fallback) = native.fallback {
            self.line_start();
            self.put("_ => ");
            self.block(fallback);
            self.put(",\n");
        }
        self.indent -= 1;
        self.line_start();
        self.put("}");
    }
}
