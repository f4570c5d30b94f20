//! More elements than threads: grid strides, chunks, cursors and counters.

use super::Form;

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "grid stride by `while`",
        options: "",
        body: "let mut i = ‹global_idx_x()¦thread_idx_x()¦block_idx_x()›; while i ‹<¦<=› «n¦y.len()¦n.min(y.len())» \
               { y[i«¦ + n¦ + m»] = $V; i += ‹«global_dim_x()¦block_dim_x() * grid_dim_x()»¦block_dim_x()¦grid_dim_x()¦(global_dim_x() - 1).max(1)›; }",
    },
    Form {
        name: "grid stride by `loop`",
        options: "",
        body: "let stride = ‹global_dim_x()¦block_dim_x()¦m + 1›; let mut i = global_idx_x(); loop { if i ‹>=¦>› n { break; } \
               y[i] = $V; ‹i += stride¦i += 1¦i += stride / 2 + 1›; }",
    },
    Form {
        name: "grid stride by a range",
        options: "",
        body: "for i in (‹global_idx_x()¦thread_idx_x()›..n).step_by(‹global_dim_x()¦block_dim_x()¦m + 1¦1›) { y[i] = $V; }",
    },
    Form {
        name: "grid stride in 32 bits",
        options: "",
        body: "let mut j = global_idx_x() as u32; while j ‹<¦<=› n as u32 { y[j as usize] = $V; \
               j += ‹global_dim_x()¦block_dim_x()¦(global_dim_x() / 2 + 1)› as u32; }",
    },
    Form {
        name: "grid stride in two dimensions",
        options: "",
        body: "let mut r = ‹global_idx_y()¦thread_idx_y()›; while r < h { let mut c = ‹global_idx_x()¦thread_idx_x()›; \
               while c ‹<¦<=› w { y[r * w + c] = $V; c += ‹global_dim_x()¦global_dim_y()¦block_dim_x()›; } \
               r += ‹global_dim_y()¦global_dim_x()¦1›; }",
    },
    Form {
        name: "grid stride in two dimensions by ranges",
        options: "",
        body: "for r in (global_idx_y()..h).step_by(‹global_dim_y()¦block_dim_y()›) { \
               for c in (global_idx_x()..‹w¦w + 1¦m›).step_by(‹global_dim_x()¦block_dim_x()›) { y[‹r * w + c¦c * h + r¦r * h + c›] = $V; } }",
    },
    Form {
        name: "row of a block",
        options: "",
        body: "let mut row = ‹block_idx_x()¦block_idx_x() / 2¦0›; while row < h { let mut col = ‹thread_idx_x()¦thread_idx_x() / 2›; \
               while col ‹<¦<=› w { y[row * w + col] = $V; col += ‹block_dim_x()¦1›; } row += ‹grid_dim_x()¦1›; }",
    },
    Form {
        name: "fill of a shared array by strides",
        options: "«¦block = $L»",
        body: "let s = shared_array::<u32, 64>(); let mut k = ‹t¦t / 2›; while k < 64 { s[k] = $V; k += ‹block_dim_x()¦1›; } ‹barrier();¦› \
               y[global_idx_x()] = s[63 - t % 64];",
    },
    Form {
        name: "strips of a block's width",
        options: "«¦block = $L»",
        body: "for k in 0..‹$K¦$K + 1› { let at = ‹$K * block_idx_x() * block_dim_x() + k * block_dim_x() + t¦\
               block_idx_x() * block_dim_x() + k * block_dim_x() + t¦$K * block_idx_x() * block_dim_x() + k + t›; if at < n { y[at] = $V; } }",
    },
    Form {
        name: "strips of the launch's width",
        options: "",
        body: "for k in 0..$K { let at = i + k * ‹global_dim_x()¦block_dim_x()¦n¦(global_dim_x() - 1)›; «if at < n { y[at] = $V; }¦y[at] = $V;» }",
    },
    Form {
        name: "chunk",
        options: "",
        body: "let per = «m¦3¦(n + global_dim_x() - 1) / global_dim_x()¦n / global_dim_x()»; let first = «i * per¦per * i»; \
               for at in first..‹(first + per)¦(first + per + 1)¦(i + 1 + per)›.min(n) { y[at] = $V; }",
    },
    Form {
        name: "chunk without a ragged end",
        options: "",
        body: "let per = «m¦$K»; for at in i * per..‹(i + 1) * per¦(i + 2) * per¦i * per + per + 1› { if at < n { y[at] = $V; } }",
    },
    Form {
        name: "elements of a thread",
        options: "",
        body: "for k in 0..‹$K¦$K + 1¦n› { y[‹i * $K + k¦i + k * $K¦k * global_dim_x() + i¦(i + k) * $K›] = $V; }",
    },
    Form {
        name: "counter by hand",
        options: "",
        body: "let mut k = 0; while k ‹<¦<=› $K { y[i * $K + k] = $V; k += 1; }",
    },
    Form {
        name: "countdown",
        options: "",
        body: "let mut left = ‹$K¦$K + 1›; while left > 0 { left -= 1; y[$K * i + left‹¦ + 1›] = $V; }",
    },
    Form {
        name: "cursor",
        options: "",
        body: "let mut at = 3 * i; y[at] = $V; at += 1; y[at] = $V; «at += ‹1¦2›;¦if x[0] > 9 { at += ‹1¦2›; }» y[at] = $V;",
    },
    Form {
        name: "cursor in a branch",
        options: "",
        body: "let mut at = 2 * i; if x[i % x.len()] > 99 { at += ‹1¦2›; «¦at -= 1;» } y[at] = $V;",
    },
    Form {
        name: "cursor carried through a loop",
        options: "",
        body: "let mut at = ‹$K * i¦i›; for k in 0..‹$K¦$K + 1› { «y[at] = $V; at += ‹1¦k›;¦y[at + k] = $V;» } «¦y[$K * i] += 1;»",
    },
    Form {
        name: "doubled counter",
        options: "",
        body: "let mut k = 1; while k ‹<¦<=› 8 { y[8 * i + k] = $V; k *= 2; }",
    },
    Form {
        name: "counter left by `break`",
        options: "",
        body: "let mut k = ‹0¦t›; while k < n { if x[k % x.len()] > 1000000000 { break; } k += 1; } «if k <= n { y[i * (n + ‹1¦0›) + k] = $V; }¦y[i ‹+ k¦* k›] = $V;»",
    },
    Form {
        name: "low bits",
        options: "",
        body: "y[i << 1] = $V; y[i << 1 | ‹1¦m›] = $V;",
    },
    Form {
        name: "cursor beside a counter",
        options: "",
        body: "let mut at = ‹i * $K¦i * ($K - 1)¦i›; for k in ‹0..$K¦0..$K + 1¦0..n¦(0..2 * $K).step_by(2)› { \
               ‹¦if x[at % x.len()] == 3 { continue; }¦if x[at % x.len()] == 3 { break; }¦if k == 1 { at += 1; }› y[at] = $V; at += ‹1¦2›; } «¦y[at - ‹1¦0›] = 9;»",
    },
    Form {
        name: "cursor in nested loops",
        options: "",
        body: "let mut at = i * ‹(w * h)¦(w * (h - 1))¦w›; for a in 0..‹h¦h + 1¦w› { for b in ‹0..w¦0..m¦1..w› { y[at] = $V; at += 1; } ‹¦at += 1;¦at -= 1;› }",
    },
    Form {
        name: "cursor down a column",
        options: "",
        body: "if c ‹<¦<=› w { let mut at = c; for a in 0..h { y[at] = $V; at += ‹w¦h¦w - 1›; } }",
    },
    Form {
        name: "signed digits",
        options: "",
        body: "let (j, p) = (i as i32, w as i32 ‹¦- h as i32›); if p ‹>¦!=› 0 { y[(j / p * p + j ‹%¦/› p) as usize] = $V; }",
    },
    Form {
        name: "signed ring",
        options: "",
        body: "let (j, p) = (i as i32, ‹n¦m¦w› as i32); if j ‹<¦<=› n as i32 { y[(j - m as i32).rem_euclid(p) as usize] = $V; }",
    },
    Form {
        name: "runs that differ by one",
        options: "",
        body: "let parts = ‹global_dim_x()¦w¦block_dim_x()›; if parts > 0 { let (per, rest) = (n / parts, n % parts); \
               let first = ‹i * per¦i / 2 * per› + ‹i.min(rest)¦rest¦i.max(rest)›; let count = per + ‹«if i < rest { 1 } else { 0 }¦usize::from(i < rest)»¦usize::from(i <= rest)¦1›; \
               if i < parts { for k in first..‹first + count¦first + count + 1› { y[k] = $V; } } }",
    },
    Form {
        name: "runs by a pair",
        options: "",
        body: "let parts = global_dim_x(); let (per, rest) = (n / parts, n % parts); \
               let (first, count) = if i ‹<¦<=› rest { (‹i * (per + 1)¦i * per›, per + 1) } else { (i * per + ‹rest¦1›, ‹per¦per + 1›) }; \
               for k in 0..count { y[first + k] = $V; }",
    },
    Form {
        name: "runs by quotients",
        options: "",
        body: "let parts = «global_dim_x()¦w + 1¦$K»; for k in ‹n * i / parts¦n * i / (parts + 1)›..‹n * (i + 1) / parts¦n * (i + 2) / parts¦n * (i + 1) / parts + 1¦(n * (i + 1)).div_ceil(parts)› \
               { if k < 4000 { y[k] = $V; } }",
    },
    Form {
        name: "runs cut by a minimum of quotients",
        options: "",
        body: "let parts = «global_dim_x()¦$K»; for k in ‹(n * i / parts).min(m)¦(n * i / parts).max(m)›..‹(n * (i + 1) / parts).min(m)¦(n * (i + 1) / parts).max(m)› \
               { if k < 4000 { y[k] = $V; } }",
    },
    Form {
        name: "runs of a triangle",
        options: "",
        body: "for k in ‹i * (i + 1) / 2¦i * i / 2›..‹(i + 1) * (i + 2) / 2¦(i + 1) * (i + 2) / 2 + 1¦(i + 2) * (i + 2) / 2› { if k < 4000 { y[k] = $V; } }",
    },
    Form {
        name: "digits by shifts",
        options: "",
        body: "let bits = (m % 4) as u32; let (q, low) = (i >> bits, i & ((1 << bits) - ‹1¦2›)); «y[(q << bits) + ‹low¦low / 2›] = $V;¦if low == ‹0¦i % 2› { y[q] = $V; }»",
    },
    Form {
        name: "shifts by an argument",
        options: "",
        body: "let bits = (m % 4) as u32; for k in 0..‹1¦2¦n› << bits { y[(i << bits) + k] = $V; }",
    },
];
