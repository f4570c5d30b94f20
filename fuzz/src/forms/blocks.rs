//! Threads of a block that work together: constants as tile sizes, tiles, halos and swizzles.

use super::Form;

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "constant as the block's width",
        options: "block = $L",
        body: "y[block_idx_x() * ‹$B¦$H¦1› + t] = $V; «¦y[(grid_dim_x() + block_idx_x()) * $B + ‹$B - 1 - t¦t + 1›] = $V;»",
    },
    Form {
        name: "constants as rows",
        options: "block = ($S, $S)",
        body: "y[(block_idx_x() * ‹$S¦$K› + thread_idx_y()) * $S + t] = $V;",
    },
    Form {
        name: "reversed shared array",
        options: "«¦block = $L»",
        body: "let s = shared_array::<u32, $B>(); s[t] = $V; ‹barrier();¦› y[i] = s[‹$B - 1 - t¦t›];",
    },
    Form {
        name: "first thread's element",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); ‹if t == 0¦if t < 2¦if t == m¦if n > 0› { s[0] = $V; } ‹barrier();¦› y[i] = s[0]; \
               «¦barrier(); if t == $B - 1 { s[0] = 2; } ‹barrier();¦› y[i] += s[0];»",
    },
    Form {
        name: "halo",
        options: "block = $L",
        body: "let s = shared_array::<u32, 64>(); s[2 + t] = $V; if t < 2 { s[t] = 5; s[‹2 + $B¦1 + $B› + t] = 6; } ‹barrier();¦› \
               y[i] = s[t] + s[t + ‹4¦2›];",
    },
    Form {
        name: "ghost zone",
        options: "block = $L",
        body: "let s = shared_array::<u32, $B>(); let at = block_idx_x() * ‹($B - 2)¦($B - 3)› + t; s[t] = $V; ‹barrier();¦› \
               if t ‹>= 1¦>= 0› && t ‹< $B - 1¦< $B› && at < n { y[at] = s[t - 1] + s[t + 1]; }",
    },
    Form {
        name: "transposed tile",
        options: "block = ($S, $S)",
        body: "let s = shared_array::<[u32; $S], $S>(); let (tx, ty) = (thread_idx_x(), thread_idx_y()); \
               s[‹ty¦0›][tx] = $V; ‹barrier();¦› if c < w && r < h { y[r * w + c] = s[tx][ty]; }",
    },
    Form {
        name: "transposition by tiles",
        options: "block = ($S, $S)",
        body: "let s = shared_array::<[u32; 9], $S>(); let (tx, ty) = (thread_idx_x(), thread_idx_y()); s[ty][tx] = $V; ‹barrier();¦› \
               let (to, down) = (block_idx_y() * $S + tx, block_idx_x() * $S + ‹ty¦tx›); if to < h && down < w { y[down * ‹h¦w› + to] = s[tx][ty]; }",
    },
    Form {
        name: "transposition with fewer rows of threads",
        options: "block = (16, 4)",
        body: "let s = shared_array::<[u32; 17], 16>(); let (tx, ty) = (thread_idx_x(), thread_idx_y()); \
               for k in (0..16).step_by(‹4¦2›) { s[ty + k][tx] = $V; } ‹barrier();¦› \
               for k in 0..4 { y[((block_idx_y() * 16 + ty + 4 * k) * grid_dim_x() + block_idx_x()) * 16 + tx] = s[tx][‹ty + 4 * k¦ty + k›]; }",
    },
    Form {
        name: "swizzled tile",
        options: "block = ($S, $S)",
        body: "let s = shared_array::<[u32; $S], $S>(); let (col, row) = (thread_idx_x(), thread_idx_y()); \
               s[‹row¦col›][col ^ ‹row¦(row / 2)¦1›] = $V; ‹barrier();¦› y[(block_idx_x() * $S + row) * $S + col] = s[col][row ^ col];",
    },
    Form {
        name: "tile of a line of threads",
        options: "block = $L",
        body: "let s = shared_array::<u32, 64>(); let (row, col) = (t / 4, t % ‹4¦3›); s[‹row * 4 + col¦col * 9 + row¦col * 2 + row›] = $V; ‹barrier();¦› \
               y[i] = s[0];",
    },
    Form {
        name: "double tile",
        options: "block = $L",
        body: "let s = shared_array::<[u32; $B], 2>(); let mut sum = 0; for k in 0..$K { s[‹k % 2¦0›][t] = $V; ‹barrier();¦› \
               sum += s[‹k % 2¦0¦1›][$B - 1 - t]; «¦barrier();» } y[i] = sum;",
    },
    Form {
        name: "tiles in a loop",
        options: "«¦block = $L»",
        body: "let s = shared_array::<u32, $B>(); let mut sum = 0; let mut first = 0; while first < n { s[t] = x[(first + t) % x.len()]; ‹barrier();¦› \
               for k in 0..$B { sum += s[k]; } ‹barrier();¦› first += $B; } y[i] = sum;",
    },
    Form {
        name: "histogram of a block",
        options: "block = $L",
        body: "let s = shared_array::<Atomic<u32>, $B>(); s[t].store(0); ‹barrier();¦› s[x[i % x.len()] as usize % $B].fetch_add(1); ‹barrier();¦› \
               y[‹i¦block_idx_x() + t›] = s[t].load();",
    },
    Form {
        name: "sums of subgroups",
        options: "«¦block = «64¦32¦48»»",
        body: "if subgroup_lane() ‹== 0¦<= 1¦== m¦% 2 == 0› { y[«i / ‹32¦33¦16›¦i / subgroup_size()¦i >> 5¦\
               block_idx_x() * (block_dim_x() / 32) + t / ‹32¦16›»] = $V; }",
    },
    Form {
        name: "partial sums of subgroups",
        options: "block = «64¦32¦(32, 2)»",
        body: "let s = shared_array::<u32, 64>(); let k = t + thread_idx_y() * 32; if subgroup_lane() ‹== 0¦< 2› { s[«k / 32¦k / subgroup_size()»] = $V; } \
               ‹barrier();¦› if ‹t == 0 && thread_idx_y() == 0¦k < 32 && subgroup_lane() == 0¦subgroup_lane() == 0› { y[block_idx_x() + block_idx_y() * grid_dim_x()] = s[0]; }",
    },
    Form {
        name: "parts of a shared array",
        options: "block = $L",
        body: "let s = shared_array::<u32, 64>(); s[t] = $V; s[‹$B¦$H› + t] = 3; «¦barrier();» let q = s[‹t¦t + 1¦t ^ 1›]; ‹barrier();¦› y[i] = q + s[$B + ($B - 1 - t)];",
    },
];
