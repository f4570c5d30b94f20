//! Pairs of indices that differ in one bit, conditions in locals, and axes of the launch that the index does not use.

use super::Form;

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "pairs by a shift",
        options: "",
        body: "let q = (m & 3) as u32; let p = 1usize << q; \
               let low = «((i >> q) << (‹q + 1¦q›)) + (i & ‹(p - 1)¦p›)¦((i >> q) << ‹(q + 1)¦q›) | (i & ‹(p - 1)¦(2 * p - 1)›)»; \
               y[low] = $V; y[«low + ‹p¦1¦2 * p›¦low | ‹p¦1›»] = $V;",
    },
    Form {
        name: "pairs by a guard",
        options: "",
        body: "let p = ‹«1usize << (m & 3)¦4¦8»¦m›; if i & ‹p¦2¦w› ‹== 0¦!= 0› { y[i] = $V; y[i «+¦^¦|» ‹p¦1›] = $V; }",
    },
    Form {
        name: "two guards of bits",
        options: "",
        body: "let (p, q) = (1usize << (m & 3), 1usize << (h & 3)); if i & p == 0 && i & q ‹!= 0¦== 0› { y[i] = $V; y[i ‹^ p¦^ q¦+ q›] = $V; }",
    },
    Form {
        name: "bits of a mask that a loop halves",
        options: "",
        body: "let mut p = $B; while p > 0 { p /= 2; if i & p == 0 { y[i ‹- (i & p)¦& p›] = $V; } }",
    },
    Form {
        name: "rows of a rounded length",
        options: "",
        body: "let pitch = «w.div_ceil($B)¦(w / $B + ‹(w % $B != 0) as usize¦(w % $B > 1) as usize¦0›)» * $B; if c ‹<¦<=› w { y[r * pitch + c] = $V; }",
    },
    Form {
        name: "arrays that take turns by a flag",
        options: "block = $L",
        body: "let a = shared_array::<u32, $B>(); let b = shared_array::<u32, $B>(); a[t] = $V; b[t] = $V; barrier(); let mut flip = ‹false¦t == 0¦n > t›; \
               for _ in 0..$K { if flip { a[t] = b[$B - 1 - t]; } else { b[t] = ‹a¦b›[$B - 1 - t]; } ‹barrier();¦› flip = !flip; } y[i] = a[t];",
    },
    Form {
        name: "phases by the parity of a counter",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = $V; barrier(); \
               for k in 0..$K { if ‹(k + 1)¦t› % ‹2¦3› == 0 { s[t] = $V; } else { y[i] = s[$B - 1 - t]; } ‹barrier();¦› }",
    },
    Form {
        name: "condition in a local",
        options: "",
        body: "let mut at = c; while at < m { let inside = at ‹<¦<=› w && r < h; if inside { y[r * w + at] = $V; } at += ‹global_dim_x()¦block_dim_x()›; }",
    },
    Form {
        name: "triangle by a grid stride",
        options: "",
        body: "let mut a = i; while a < w { for b in a ‹+ 1¦›..w { y.swap(a * w + b, b * w + a); } a += ‹global_dim_x()¦1›; }",
    },
    Form {
        name: "blocks as rows",
        options: "",
        body: "if c ‹<¦<=› w { y[block_idx_y() * w + c‹¦ + thread_idx_y()›] = $V; }",
    },
    Form {
        name: "one thread of a block",
        options: "",
        body: "‹if t == 0 && thread_idx_y() == 0¦if t == 0¦if thread_idx_y() == 0¦if t < 2› { y[block_idx_x()] = $V; }",
    },
    Form {
        name: "one thread of each part of a block",
        options: "",
        body: "if t % ‹«2¦4¦8»¦3› == ‹0¦m› { y[i / «2¦4¦8»] = $V; }",
    },
    Form {
        name: "digits of a thread that are mixed",
        options: "block = 16",
        body: "let s = shared_array::<u32, 64>(); let (a, b) = (t / 4, t % ‹4¦3›); s[a * ‹4¦3› + (a ‹^¦&› b)] = $V; barrier(); y[i] = s[t];",
    },
];
