//! Steps of a block between barriers: reductions, scans and sorts.

use super::Form;

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "tree by halves",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = $V; ‹barrier();¦› let mut half = ‹$H¦$B›; while half > 0 { \
               if t ‹<¦<=› half { s[t] += s[t + half]; } ‹barrier();¦› half ‹«/= 2¦>>= 1»¦-= 1›; } if t == 0 { y[block_idx_x()] = s[0]; }",
    },
    Form {
        name: "tree of any block",
        options: "",
        body: "let s = shared_array::<u32, 256>(); s[t] = $V; ‹barrier();¦› let mut half = block_dim_x() / 2; while half > 0 { \
               if t ‹<¦<=› half { s[t] += s[t + half]; } ‹barrier();¦› half /= 2; } if t == 0 { y[block_idx_x()] = s[0]; }",
    },
    Form {
        name: "tree by multiples",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = $V; ‹barrier();¦› let mut far = 1; while far < $B { \
               if t % (‹2¦1¦3› * far) == 0 { s[t] += s[t + far]; } ‹barrier();¦› far *= 2; } if t == 0 { y[block_idx_x()] = s[0]; }",
    },
    Form {
        name: "tree by doubled distances",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = $V; ‹barrier();¦› let mut far = 1; while far < $B { let at = ‹2¦1¦3› * far * t; \
               if at + far < $B { s[at] += s[at + far]; } ‹barrier();¦› far *= 2; } if t == 0 { y[block_idx_x()] = s[0]; }",
    },
    Form {
        name: "Blelloch scan",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = $V; let mut gap = 1; while gap < $B { ‹barrier();¦› \
               let right = ‹2¦1› * gap * (t + 1) - 1; if right < $B { s[right] += s[right - gap]; } gap *= 2; } \
               barrier(); if t == 0 { s[$B - 1] = 0; } while gap > 1 { gap /= 2; ‹barrier();¦› let right = 2 * gap * (t + 1) - 1; \
               if right < $B { let left = s[right - gap]; s[right - gap] = s[right]; s[right] += left; } } ‹barrier();¦› y[i] = s[t];",
    },
    Form {
        name: "up-sweep of the first threads",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = $V; let mut busy = $H; let mut gap = 1; while busy > 0 { ‹barrier();¦› \
               if t < busy { let left = gap * (‹2¦1› * t + 1) - 1; s[left + gap] += s[left]; } gap *= 2; busy /= 2; } barrier(); y[i] = s[t];",
    },
    Form {
        name: "Hillis-Steele scan",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = $V; barrier(); let mut far = 1; while far < $B { \
               let sum = if t >= far { s[t] + s[t - far] } else { s[t] }; ‹barrier();¦› s[t] = sum; ‹barrier();¦› far *= 2; } y[i] = s[t];",
    },
    Form {
        name: "Hillis-Steele scan with two arrays",
        options: "block = $L",
        body: "let a = shared_array::<u32, $B>(); let b = shared_array::<u32, $B>(); a[t] = $V; barrier(); let mut far = 1; while far < $B { \
               b[t] = if t >= far { a[t] + a[t - far] } else { a[t] }; ‹barrier();¦› a[t] = b[t‹¦ ^ 1›]; ‹barrier();¦› far *= 2; } y[i] = a[t];",
    },
    Form {
        name: "Hillis-Steele scan with two rows",
        options: "block = $L",
        body: "let s = shared_array::<[u32; $B], 2>(); let mut from = 0; s[0][t] = $V; s[1][t] = 0; barrier(); let mut far = 1; while far < $B { \
               s[‹1 - from¦from›][t] = if t >= far { s[from][t] + s[from][t - far] } else { s[from][t] }; ‹barrier();¦› \
               from = 1 - from; far *= 2; } y[i] = s[from][t];",
    },
    Form {
        name: "two buffers by offsets",
        options: "block = $L",
        body: "let s = shared_array::<u32, 64>(); let mut from = 0; let mut to = ‹$B¦$H›; s[t] = $V; s[$B + t] = 0; barrier(); for k in 0..$K { \
               s[to + t] = s[from + ‹«t ^ 1¦$B - 1 - t¦t»¦t + 1›] + 1; ‹barrier();¦› let other = from; from = to; to = other; } y[i] = s[from + t];",
    },
    Form {
        name: "odd-even sort",
        options: "block = $L",
        body: "let s = shared_array::<u32, 64>(); s[t] = x[t % x.len()]; s[$B + t] = $V; barrier(); for k in 0..$K { let left = ‹2¦1› * t + k % 2; \
               if left + 1 < 2 * $B && s[left] > s[left + 1] { s.swap(left, left + 1); } ‹barrier();¦› } y[i] = s[t];",
    },
    Form {
        name: "sort by the neighbours' parity",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = x[t % x.len()]; barrier(); for k in 0..$K { if t % ‹2¦3¦1› == k % 2 && t + 1 < $B { \
               let (a, b) = (s[t], s[t + 1]); s[t] = a.min(b); s[t + 1] = a.max(b); } ‹barrier();¦› } y[i] = s[t];",
    },
    Form {
        name: "bitonic exchange",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); s[t] = x[t % x.len()]; barrier(); let mut k = 2; while k <= $B { let mut j = k / 2; while j > 0 { \
               let p = t ^ j; if p ‹>¦>=¦!=› t { let up = t & k == 0; let (a, b) = (s[t], s[p]); if (a > b) == up { s[t] = b; s[p] = a; } } \
               ‹barrier();¦› j /= 2; } k *= 2; } y[i] = s[t];",
    },
    Form {
        name: "butterfly of a block",
        options: "block = $L",
        body: "let s = shared_array::<u32, 64>(); s[t] = $V; s[t + $B] = 1; barrier(); let mut half = 1; while half < $D { \
               let at = t / half * (‹2¦1› * half) + t % half; let (a, b) = (s[at], s[at + half]); s[at] = a + b; s[at + half] = a - b; ‹barrier();¦› \
               half *= 2; } y[i] = s[t];",
    },
    Form {
        name: "wavefront",
        options: "block = $L",
        body: "let s = shared_array::<u32, 64>(); s[t] = $V; s[$B + t] = 1; barrier(); for k in 0..$B { if ‹t == k¦t <= k› { s[t + 1] = s[t] + 1; } ‹barrier();¦› } y[i] = s[t];",
    },
    Form {
        name: "scan up and down a tree",
        options: "block = 8",
        body: "let s = shared_array::<u32, 64>(); s[t] = $V; s[8 + t] = 1; let mut gap = ‹1¦2¦0›; let mut busy = ‹8¦16¦4›; \
               while busy > 0 { ‹barrier();¦¦if busy > 1 { barrier(); }› if t ‹<¦<=› busy { let at = gap * (2 * t + 1) - 1; s[at + gap] += s[at]; } gap *= 2; busy /= 2; } \
               if t ‹== 0¦== 1¦< 2› { s[15] = 0; } busy = 1; \
               while busy < ‹16¦32¦8› { gap /= ‹2¦4›; ‹barrier();¦› if t < busy { let at = ‹gap * (2 * t + 1) - 1¦gap * (t + 1) - 1¦2 * gap * t›; \
               let v = s[at]; s[at] = s[at + gap]; s[at + gap] += v; } busy *= 2; } ‹barrier();¦› y[i] = s[2 * t] + s[2 * t + 1];",
    },
    Form {
        name: "exchange in halves",
        options: "block = 8",
        body: "let s = shared_array::<u32, 64>(); s[t] = $V; s[8 + t] = 2; barrier(); let mut size = 2; while size <= ‹16¦24› { let mut far = size / 2; \
               while far > 0 { let at = ‹2 * t - (t & (far - 1))¦t + (t & (far - 1))¦2 * t - (t & far)›; if s[at] > s[at + far] { s.swap(at, at + far); } ‹barrier();¦› far /= 2; } \
               ‹size *= 2¦size += 2›; } y[i] = s[t];",
    },
];
